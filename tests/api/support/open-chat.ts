import { send } from './api.ts';
import type { ChatMessage } from './chat.ts';
import { readEvents } from './read-events.ts';

export type ChatEvent = { id?: string; type: string; [field: string]: any };

/** An open chat stream, read as a browser reads it. */
export class OpenChat {
  readonly status: number;
  /** The events of the conversation. */
  readonly events: ChatEvent[] = [];
  /** The events of usage and of the plan. */
  readonly usage: ChatEvent[] = [];
  profile: unknown;
  opened = false;
  ended = false;
  readonly #abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.#abort = abort;
    if (response.body) void this.#read(response.body);
  }

  static async open(token: string, after?: number, headers: Record<string, string> = {}): Promise<OpenChat> {
    const abort = new AbortController();
    const query = `token=${encodeURIComponent(token)}${after === undefined ? '' : `&after=${after}`}`;
    const response = await send(`/api/user/chat-stream?${query}`, { signal: abort.signal, headers });
    return new OpenChat(response, abort);
  }

  get messages(): ChatMessage[] {
    return this.events.flatMap(({ type, message }) => (type === 'message' ? [message] : []));
  }

  /** Waits until the condition holds, or fails after `ms`. */
  async until(condition: (stream: this) => boolean, ms = 5000): Promise<void> {
    const deadline = AbortSignal.timeout(ms);
    while (!condition(this)) {
      if (deadline.aborted) throw new Error(`stream holds ${JSON.stringify(this.events)}`);
      await scheduler.wait(20);
    }
  }

  close(): void {
    this.#abort.abort();
  }

  #start(data: string): void {
    this.opened = true;
    this.profile = JSON.parse(data).profile;
  }

  #add(event: ChatEvent): void {
    const isOfUsage = ['usageUpdate', 'subscription_update'].includes(event.type);
    (isOfUsage ? this.usage : this.events).push(event);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const { id, event, data } of readEvents(body)) {
        if (event === 'connection_established') this.#start(data!);
        else if (data) this.#add({ ...(id !== undefined && { id }), ...JSON.parse(data) });
      }
    } catch {
      // An aborted stream has ended too.
    }
    this.ended = true;
  }
}
