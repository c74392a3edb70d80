import { streamBeat } from '../contract/usage-stream.ts';
import { minuteMs } from '../lib/time.ts';

/** Pages expect a beat every 20 s. */
const heartbeatMs = 19_000;
/** Proxies may buffer about 2 KiB. */
const padding = `:${' '.repeat(2048)}\n\n`;
const oldestMs = 15 * minuteMs;
const ageJitterMs = 5 * minuteMs;
/** The maximum age of a stream, plus a minute for clock skew. */
export const longestStreamMs = oldestMs + ageJitterMs + minuteMs;
/** Unread bytes after which a slow reader is disconnected. */
const unreadBytes = 1024 * 1024;
const encoder = new TextEncoder();

/** `x-accel-buffering` is nginx's. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

type Source = {
  signal: AbortSignal;
  expiresAt: number;
  opened: (stream: EventStream) => void;
  beat: (stream: EventStream) => void;
  /** Unix ms, or null. */
  dueAt: () => number | null;
  ended: () => void;
};

export class EventStream {
  readonly #source: Source;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #endsAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = true;

  private constructor(source: Source, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#source = source;
    this.#controller = controller;
    this.#endsAt = Math.min(source.expiresAt, Date.now() + oldestMs + Math.random() * ageJitterMs);
    source.signal.addEventListener('abort', () => this.end());
    this.write(padding);
    source.opened(this);
    this.#scheduleBeat();
  }

  static response(source: Source): Response {
    let stream: EventStream | undefined;
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      stream = new EventStream(source, controller);
    };
    const body = new ReadableStream<Uint8Array>(
      { start, cancel: () => stream?.end() },
      { highWaterMark: 0, size: ({ byteLength }) => byteLength },
    );
    return new Response(body, { headers: streamHeaders });
  }

  write(text: string): void {
    if (!this.#open) return;
    if ((this.#controller.desiredSize ?? 0) < -unreadBytes) return this.end();
    this.#controller.enqueue(encoder.encode(text));
  }

  end(): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#timer);
    this.#source.ended();
    try {
      this.#controller.close();
    } catch {
      return; // the reader has disconnected already
    }
  }

  #scheduleBeat(): void {
    if (!this.#open) return;
    const untilDue = (this.#source.dueAt() ?? Infinity) - Date.now();
    this.#timer = setTimeout(() => this.#beat(), Math.max(0, Math.min(heartbeatMs, untilDue)));
  }

  #beat(): void {
    if (Date.now() >= this.#endsAt) return this.end();
    this.#source.beat(this);
    this.write(
      `event: ${streamBeat}\ndata: ${JSON.stringify({ at: new Date().toISOString() })}\n\n`,
    );
    this.#scheduleBeat();
  }
}
