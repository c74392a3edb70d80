import { send } from './api.ts';

type Event = { event?: string; data?: string; comment?: string };

/** An open usage stream, read the way a browser reads it. */
export class OpenStream {
  readonly status: number;
  readonly events: Event[] = [];
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
    let rest = '';
    try {
      for await (const text of body.pipeThrough(new TextDecoderStream())) {
        const frames = (rest + text).split('\n\n');
        rest = frames.pop()!;
        this.events.push(...frames.map(parseFrame));
        for (const wake of this.#waiting.splice(0)) wake();
      }
    } catch {
      rest = '';
    }
    this.#ended = true;
  }
}

function parseFrame(frame: string): Event {
  const event: Event = {};
  for (const line of frame.split('\n')) {
    if (line.startsWith(':')) event.comment = line.slice(1).trim();
    if (line.startsWith('event: ')) event.event = line.slice(7);
    if (line.startsWith('data: ')) event.data = line.slice(6);
  }
  return event;
}
