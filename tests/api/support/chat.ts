import { botCall, call, send, type Answer } from './api.ts';
import { newPerson, type Person } from './person.ts';
import { readEvents } from './read-events.ts';
import { vars } from './api.ts';

export type ChatMessage = {
  id: string;
  seq: number;
  author: 'user' | 'solace';
  text: string;
  at: string;
  state: 'sent' | 'delivered' | 'failed';
  replyTo?: string;
  crisis?: true;
};
export type ChatEvent = { id?: string; type: string; [field: string]: any };

/** A user who has accepted the notice. */
export async function newWriter(): Promise<Person> {
  const person = await newPerson();
  await consent(person.token);
  return person;
}

export const consent = (token: string, version = '2026-11') =>
  call('PUT', '/api/user/chat/consent', { token, body: { version } });

export const write = (
  token: string,
  text: string,
  id: string = crypto.randomUUID(),
  settings?: Record<string, string>,
): Promise<Answer> =>
  call('POST', '/api/user/chat/messages', { token, body: { id, text }, ...(settings && { settings }) });

export const readChat = async (token: string, query = '') =>
  (await call('GET', `/api/user/chat${query}`, { token })).body as {
    revision: number;
    messages: ChatMessage[];
    hasMore: boolean;
    typingUntil: string | null;
    consent: { version: string; at: string } | null;
  };

export const reply = (phone: string, text: string, id: string = crypto.randomUUID(), more = {}) =>
  botCall('/api/bot/messages', { phone, id, text, ...more });

/** The `data` of the messages that the bot accepted. */
export async function acceptedBy(phone: string): Promise<{ messageId: string; text: string; [field: string]: any }[]> {
  const response = await fetch(`${vars.SANDBOX}/bot/chat/${encodeURIComponent(phone)}`);
  return response.json();
}

/** Replies to the messages that the bot has accepted, as the local bot does when it can reach the site. */
export async function answer(phone: string): Promise<void> {
  for (const { messageId } of await acceptedBy(phone)) {
    await botCall('/api/bot/typing', { phone }, `typing_${messageId}`);
    await botCall('/api/bot/usage', { phone }, `usage_${messageId}`);
    await botCall('/api/bot/messages', replyOf(phone, messageId), `reply_${messageId}`);
  }
}

const replyOf = (phone: string, messageId: string) => ({
  phone,
  id: `reply-${messageId}`,
  text: 'I hear you.',
  replyTo: messageId,
});

/** An open chat stream, read as a browser reads it. */
export class OpenChat {
  readonly status: number;
  readonly events: ChatEvent[] = [];
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

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const { id, event, data } of readEvents(body)) {
        if (event === 'connection_established') this.opened = true;
        else if (data) this.events.push({ ...(id !== undefined && { id }), ...JSON.parse(data) });
      }
    } catch {
      // An aborted stream has ended too.
    }
    this.ended = true;
  }
}
