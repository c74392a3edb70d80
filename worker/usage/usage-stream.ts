import { connectionEstablished, streamReplaced, type StreamMessage } from '../contract/usage-stream.ts';
import type { Profile } from '../contract/schemas.ts';
import type { ChannelSocket } from './channel-socket.ts';
import type { ChannelMessage } from './usage-channel.ts';
import { weekMs } from './week.ts';
import { minuteMs } from '../lib/time.ts';

const heartbeatMs = 20_000;
const oldestMs = 15 * minuteMs;
const ageJitterMs = 5 * minuteMs;
const replacedRetryMs = minuteMs;

/** The maximum age of a stream, plus a minute for clock skew. */
export const longestStreamMs = oldestMs + ageJitterMs + minuteMs;
/** Unread chunks after which a slow reader is disconnected. */
const unreadChunks = 64;
const encoder = new TextEncoder();

/** A count with its order; `resetsAt` in unix ms, null while the week is frozen. */
export type Total = { seq: number; used: number; resetsAt: number | null };

/** `expiresAt` is the end of the session, in unix ms; `profile` was read after the channel was joined. */
type Source = {
  socket: ChannelSocket;
  sessionId: string;
  expiresAt: number;
  profile: Profile;
  total: Total;
  signal: AbortSignal;
};

/** Server-sent events: the current total, then each change from the channel. */
export function usageStream(source: Source): ReadableStream<Uint8Array> {
  let stream: UsageStream | undefined;
  return new ReadableStream({
    start: (controller) => {
      stream = new UsageStream(source, controller);
    },
    cancel: () => stream?.end(),
  });
}

/** One open stream. It ends with its session, its reader or its channel, or at its maximum age. */
class UsageStream {
  readonly #socket: ChannelSocket;
  readonly #sessionId: string;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #endsAt: number;
  #total: Total;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = true;

  constructor(source: Source, controller: ReadableStreamDefaultController<Uint8Array>) {
    const { socket, sessionId, expiresAt, profile, total, signal } = source;
    this.#endsAt = Math.min(expiresAt, Date.now() + oldestMs + Math.random() * ageJitterMs);
    this.#socket = socket;
    this.#sessionId = sessionId;
    this.#total = total;
    this.#controller = controller;
    signal.addEventListener('abort', () => this.end());
    // Otherwise a plan change between the page's request and this stream would be missed.
    const opening = JSON.stringify({ type: connectionEstablished, profile });
    this.#write(`retry: 3000\nevent: ${connectionEstablished}\ndata: ${opening}\n\n`);
    this.#sendTotal();
    socket.listen({ take: (message) => this.#take(message), ended: (why) => this.#channelEnded(why) });
    this.#scheduleBeat();
  }

  end(): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#timer);
    this.#socket.close();
    try {
      this.#controller.close();
    } catch {
      return; // the reader has disconnected already
    }
  }

  #channelEnded(why: 'replaced' | 'closed'): void {
    if (why === 'replaced') this.#write(`retry: ${replacedRetryMs}\nevent: ${streamReplaced}\ndata: {}\n\n`);
    this.end();
  }

  #take(message: ChannelMessage): void {
    if (message.kind === 'end') {
      if (message.sessionId === null || message.sessionId === this.#sessionId) this.end();
      return;
    }
    if (message.kind === 'changed') return this.#send({ type: 'subscription_update' });
    if (message.seq <= this.#total.seq) return;
    this.#total = { seq: message.seq, used: message.used, resetsAt: message.resetsAt };
    this.#sendTotal();
  }

  #scheduleBeat(): void {
    if (!this.#open) return;
    const untilReset = (this.#total.resetsAt ?? Infinity) - Date.now();
    this.#timer = setTimeout(() => this.#beat(), Math.max(0, Math.min(heartbeatMs, untilReset)));
  }

  #beat(): void {
    const now = Date.now();
    if (now >= this.#endsAt) return this.end();
    const { resetsAt } = this.#total;
    if (resetsAt !== null && resetsAt <= now) {
      this.#total = { ...this.#total, used: 0, resetsAt: resetsAt + weekMs };
      this.#sendTotal();
    }
    this.#write(': still here\n\n');
    if (this.#open) this.#socket.ping();
    this.#scheduleBeat();
  }

  #sendTotal(): void {
    const { used, resetsAt } = this.#total;
    this.#send({ type: 'usageUpdate', count: resetsAt !== null && resetsAt <= Date.now() ? 0 : used });
  }

  #send(message: StreamMessage): void {
    const id = message.type === 'usageUpdate' ? `id: ${this.#total.seq}\n` : '';
    this.#write(`${id}data: ${JSON.stringify(message)}\n\n`);
  }

  #write(text: string): void {
    if (!this.#open) return;
    if ((this.#controller.desiredSize ?? 0) < -unreadChunks) return this.end();
    this.#controller.enqueue(encoder.encode(text));
  }
}
