import { send } from './api.ts';
import { readEvents, type SentEvent } from './read-events.ts';

/** An open usage stream, read as a browser reads it. */
export class OpenStream {
  readonly status: number;
  readonly events: SentEvent[] = [];
  #abort: AbortController;
  #ended = false;
  #waiting: (() => void)[] = [];

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.#abort = abort;
    if (response.body) void this.#read(response.body);
  }

  static async open(token: string): Promise<OpenStream> {
    const abort = new AbortController();
    const response = await send(`/api/user/usage-stream?token=${encodeURIComponent(token)}`, { signal: abort.signal });
    return new OpenStream(response, abort);
  }

  get counts(): number[] {
    return this.messages.flatMap((message) => (message.type === 'usageUpdate' ? [message.count!] : []));
  }

  get messages(): { type: string; count?: number }[] {
    return this.events.filter(({ event, data }) => data && !event).map(({ data }) => JSON.parse(data!));
  }

  /** Waits until the condition holds, or fails after `ms`. */
  async until(condition: (stream: this) => boolean, ms = 5000): Promise<void> {
    const deadline = AbortSignal.timeout(ms);
    while (!condition(this)) {
      if (deadline.aborted) throw new Error(`stream holds ${JSON.stringify(this.events)}`);
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), scheduler.wait(50)]);
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const event of readEvents(body)) {
        this.events.push(event);
        for (const wake of this.#waiting.splice(0)) wake();
      }
    } catch {
      // An aborted stream has ended too.
    }
    this.#ended = true;
  }
}
