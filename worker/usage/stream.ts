import { connectionEstablished, type StreamMessage } from '../contract/stream.ts';
import type { FeedSocket } from './feed-socket.ts';
import type { FeedMessage } from './feed.ts';
import { weekMs } from './week.ts';

const heartbeatMs = 20_000;
const oldestMs = 15 * 60_000;
const ageJitterMs = 5 * 60_000;

/** No stream is open for longer, with a minute to spare for clocks. */
export const longestStreamMs = oldestMs + ageJitterMs + 60_000;
/** Chunks that a reader who does not read may leave behind before it is dropped. */
const unreadChunks = 64;
const encoder = new TextEncoder();

/** A count with its order; `resetsAt` in unix ms, null while no new week opens. */
export type Total = { seq: number; used: number; resetsAt: number | null };

type Source = { socket: FeedSocket; sessionId: string; total: Total; signal: AbortSignal };

/** Server-sent events: the total as it stands, then each change that the feed brings. */
export function usageStream(source: Source): ReadableStream<Uint8Array> {
  let stream: UsageStream | undefined;
  return new ReadableStream({
    start: (controller) => {
      stream = new UsageStream(source, controller);
    },
    cancel: () => stream?.end(),
  });
}

/** One open stream. It ends with its session, its reader, the feed's object, or of age. */
class UsageStream {
  readonly #socket: FeedSocket;
  readonly #sessionId: string;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #endsAt = Date.now() + oldestMs + Math.random() * ageJitterMs;
  #total: Total;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = true;

  constructor({ socket, sessionId, total, signal }: Source, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#socket = socket;
    this.#sessionId = sessionId;
    this.#total = total;
    this.#controller = controller;
    signal.addEventListener('abort', () => this.end());
    this.#write(`retry: 3000\nevent: ${connectionEstablished}\ndata: {"type":"${connectionEstablished}"}\n\n`);
    this.#sendTotal();
    socket.listen({ take: (message) => this.#take(message), ended: () => this.end() });
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
      return; // the reader has gone first
    }
  }

  #take(message: FeedMessage): void {
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
