import { minuteMs } from '../lib/time.ts';

const heartbeatMs = 20_000;
const oldestMs = 15 * minuteMs;
const ageJitterMs = 5 * minuteMs;
/** The maximum age of a stream, plus a minute for clock skew. */
export const longestStreamMs = oldestMs + ageJitterMs + minuteMs;
/** Unread bytes after which a slow reader is disconnected. */
const unreadBytes = 1024 * 1024;
const encoder = new TextEncoder();

type Source = {
  signal: AbortSignal;
  /** Unix ms: the stream ends with its session. */
  expiresAt: number;
  opened: (stream: EventStream) => void;
  beat: (stream: EventStream) => void;
  /** Unix ms: when a beat is due before the next heartbeat, or null. */
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
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
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
    this.write(': still here\n\n');
    this.#scheduleBeat();
  }
}
