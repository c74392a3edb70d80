import type { ChatStreamEvent } from '../contract/chat.ts';
import { connectionEstablished, streamReplaced } from '../contract/usage-stream.ts';
import { fromBase64 } from '../lib/crypto.ts';
import { EventStream } from '../live/server-sent-events.ts';
import type { ObjectSocket } from '../live/live-socket.ts';
import { replacedCode } from '../usage/open-streams.ts';
import { openMessage, type KeyOfEpoch } from './chat-encryption.ts';
import type { ConversationEvent } from '../live/message-table.ts';
import { minuteMs } from '../lib/time.ts';

type Source = {
  userId: string;
  socket: ObjectSocket<ConversationEvent>;
  keyOf: KeyOfEpoch;
  signal: AbortSignal;
  /** The end of the session, in unix ms. */
  expiresAt: number;
};

/** Reconnecting at once would end the next oldest stream. */
const replacedRetryMs = minuteMs;

/** The chat stream of one reader: decrypts what the Durable Object sends, in its order. */
export function chatStream({ userId, socket, keyOf, signal, expiresAt }: Source): Response {
  let work = Promise.resolve();

  return EventStream.response({
    signal,
    expiresAt,
    opened(stream) {
      stream.write(`retry: 3000\nevent: ${connectionEstablished}\ndata: {"type":"${connectionEstablished}"}\n\n`);
      // A message that cannot be decrypted ends the stream; the page then reads the conversation again.
      const receive = (event: ConversationEvent) => {
        work = work.then(() => send(stream, event)).catch(() => stream.end());
      };
      const ended = (code: number) => {
        work = work.then(() => end(stream, code));
      };
      socket.listen({ receive, ended });
    },
    beat: () => socket.ping(),
    ended: () => socket.close(),
  });

  async function send(stream: EventStream, event: ConversationEvent): Promise<void> {
    const sent = await toSent(event);
    if (sent) stream.write(sent);
  }

  function end(stream: EventStream, code: number): void {
    if (code === replacedCode) stream.write(`retry: ${replacedRetryMs}\nevent: ${streamReplaced}\ndata: {}\n\n`);
    stream.end();
  }

  async function toSent(event: ConversationEvent): Promise<string | null> {
    if (event.kind === 'message') return messageFrame(event);
    if (event.kind === 'state') return frame({ type: 'state', upTo: event.upTo, state: event.state }, event.revision);
    if (event.kind === 'cleared') return frame({ type: 'cleared' }, event.revision);
    if (event.kind === 'typing') return frame({ type: 'typing', until: isoDate(event.until) });
    const reset = event.reset ? frame({ type: 'reset' }, event.revision) : '';
    return event.typingUntil ? reset + frame({ type: 'typing', until: isoDate(event.typingUntil) }) : reset;
  }

  async function messageFrame(event: Extract<ConversationEvent, { kind: 'message' }>): Promise<string | null> {
    const key = await keyOf(event.epoch);
    if (!key) return null;
    const stored = { ...event.message, sealed: fromBase64(event.message.sealed).buffer };
    return frame({ type: 'message', message: await openMessage(key, userId, stored) }, event.revision);
  }
}

function frame(event: ChatStreamEvent, revision?: number): string {
  const id = revision === undefined ? '' : `id: ${revision}\n`;
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}

function isoDate(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
