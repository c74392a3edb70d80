import type { Profile } from '../contract/schemas.ts';
import {
  connectionEstablished,
  streamReplaced,
  type StreamMessage,
} from '../contract/usage-stream.ts';
import { minuteMs } from '../lib/time.ts';
import { weekMs } from '../usage/week.ts';
import { replacedCode, type ConversationChange, type UsageChange } from './live-changes.ts';
import type { LiveSocket } from './live-socket.ts';
import { EventStream } from './server-sent-events.ts';

type Total = {
  seq: number;
  used: number;
  resetsAt: number | null;
};

/** As text, or null for a change that nobody sees. */
export type ConversationEvents = (change: ConversationChange) => Promise<string | null>;

type Source = {
  socket: LiveSocket;
  expiresAt: number;
  profile: Profile;
  total: Total;
  signal: AbortSignal;
  conversationEvents?: ConversationEvents | undefined;
};

/** Reconnecting at once would end the next oldest stream. */
const replacedRetryMs = minuteMs;

export function liveStream(source: Source): Response {
  const { socket, expiresAt, profile, signal, conversationEvents } = source;
  let { total } = source;
  let work = Promise.resolve();

  return EventStream.response({
    signal,
    expiresAt,
    opened(stream) {
      // Otherwise a plan change between the page's
      // request and this stream would be missed.
      const opening = JSON.stringify({ type: connectionEstablished, profile });
      stream.write(`retry: 3000\nevent: ${connectionEstablished}\ndata: ${opening}\n\n`);
      sendTotal(stream);
      socket.listen({
        receive: (change) => receive(stream, change),
        ended: (code) => end(stream, code),
      });
    },
    dueAt: () => total.resetsAt,
    beat(stream) {
      const { resetsAt } = total;
      if (resetsAt !== null && resetsAt <= Date.now()) {
        total = {
          ...total,
          used: 0,
          resetsAt: resetsAt + weekMs,
        };
        sendTotal(stream);
      }
      socket.ping();
    },
    ended: () => socket.close(),
  });

  function receive(stream: EventStream, change: UsageChange | ConversationChange): void {
    if (change.kind === 'total') return receiveTotal(stream, change);
    if (change.kind === 'changed') return stream.write(frameOf({ type: 'subscription_update' }));
    work = work.then(() => sendEvents(stream, change)).catch(() => stream.end());
  }

  async function sendEvents(stream: EventStream, change: ConversationChange): Promise<void> {
    const events = await conversationEvents?.(change);
    if (events) stream.write(events);
  }

  function receiveTotal(stream: EventStream, { seq, used, resetsAt }: Total): void {
    if (seq <= total.seq) return;
    total = { seq, used, resetsAt };
    sendTotal(stream);
  }

  function sendTotal(stream: EventStream): void {
    const { seq, used, resetsAt } = total;
    const count = resetsAt !== null && resetsAt <= Date.now() ? 0 : used;
    stream.write(frameOf({ type: 'usageUpdate', count }, conversationEvents ? undefined : seq));
  }

  function end(stream: EventStream, code: number): void {
    work = work.then(() => endNow(stream, code));
  }

  function endNow(stream: EventStream, code: number): void {
    if (code === replacedCode)
      stream.write(`retry: ${replacedRetryMs}\nevent: ${streamReplaced}\ndata: {}\n\n`);
    stream.end();
  }
}

function frameOf(message: StreamMessage, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}
