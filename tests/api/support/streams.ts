import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { onTestFinished } from 'vitest';
import type { ChatMessage } from '../../../worker/contract/chat-schemas.ts';
import type { Env } from '../../../worker/env.ts';
import { send } from './api.ts';
import { until } from './clock.ts';
import { textOf } from './database.ts';
import { userOf } from './person.ts';
import { readEvents, type SentEvent } from './read-events.ts';

type ChatEvent = { id?: string; type: string; [field: string]: any };

/** The live object of the user. */
export const liveUserOf = (token: string) => (env as unknown as Env).LIVE_USER.getByName(userOf(token));

/** Every value of every row of a Durable Object, with bytes as text. */
export function wholeObject(token: string): Promise<string> {
  return runInDurableObject(liveUserOf(token), (_, { storage }) => {
    const ours = "select name from sqlite_master where name not like '%cf_%' and name not like 'sqlite_%'";
    const tables = storage.sql.exec<{ name: string }>(ours).toArray();
    const rows = tables.flatMap(({ name }) => storage.sql.exec(`select * from "${name}"`).toArray());
    return rows.flatMap((row) => Object.values(row).map(textOf)).join('\n');
  });
}

/** The sockets of a user's streams at the live object. */
export const openSockets = (token: string) =>
  runInDurableObject(liveUserOf(token), (_, state) => state.getWebSockets().length);

/** An open stream, read as a browser reads it, until the test ends. */
abstract class ReadStream<Event> {
  status = 0;
  headers = new Headers();
  readonly events: Event[] = [];
  ended = false;
  readonly #abort = new AbortController();

  /** The counts of the usage that it has shown. */
  abstract get counts(): number[];

  protected abstract receive(event: SentEvent): void;

  /** Waits until the condition holds. */
  async until(condition: (stream: this) => boolean): Promise<void> {
    const state = () => ({ ended: this.ended, events: this.events });
    await until(`the stream (${condition.toString()})`, state, () => condition(this));
  }

  /** Waits until it shows a count. */
  showing(count: number): Promise<void> {
    return this.until(({ counts }) => counts.at(-1) === count);
  }

  close(): void {
    this.#abort.abort();
  }

  protected async connect(path: string, headers: Record<string, string> = {}): Promise<this> {
    onTestFinished(() => this.close());
    const response = await send(path, { signal: this.#abort.signal, headers });
    this.status = response.status;
    this.headers = response.headers;
    if (response.body) void this.#read(response.body);
    return this;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const event of readEvents(body)) this.receive(event);
    } catch {
      // An aborted stream has ended too.
    }
    this.ended = true;
  }
}

/** An open usage stream. */
export class OpenStream extends ReadStream<SentEvent> {
  static open(token: string): Promise<OpenStream> {
    return new OpenStream().connect(`/api/user/usage-stream?token=${encodeURIComponent(token)}`);
  }

  /** A stream that has shown the current count. */
  static async opened(token: string): Promise<OpenStream> {
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    return stream;
  }

  get counts(): number[] {
    return this.messages.flatMap(({ type, count }) => (type === 'usageUpdate' ? [count!] : []));
  }

  get messages(): { type: string; count?: number }[] {
    return this.events.filter(({ event, data }) => data && !event).map(({ data }) => JSON.parse(data!));
  }

  protected receive(event: SentEvent): void {
    this.events.push(event);
  }
}

/** An open chat stream; its events are those of the conversation, and `usage` holds the others. */
export class OpenChat extends ReadStream<ChatEvent> {
  readonly usage: ChatEvent[] = [];
  profile: unknown;
  opened = false;

  static open(token: string, after?: number, headers: Record<string, string> = {}): Promise<OpenChat> {
    const query = `token=${encodeURIComponent(token)}${after === undefined ? '' : `&after=${after}`}`;
    return new OpenChat().connect(`/api/user/chat-stream?${query}`, headers);
  }

  get counts(): number[] {
    return this.usage.flatMap(({ type, count }) => (type === 'usageUpdate' ? [count] : []));
  }

  get messages(): ChatMessage[] {
    return this.events.flatMap(({ type, message }) => (type === 'message' ? [message] : []));
  }

  protected receive({ id, event, data }: SentEvent): void {
    const fields = JSON.parse(data ?? 'null');
    if (event === 'connection_established') {
      this.opened = true;
      this.profile = fields.profile;
    } else if (fields) {
      const isOfUsage = ['usageUpdate', 'subscription_update'].includes(fields.type);
      (isOfUsage ? this.usage : this.events).push({ ...(id !== undefined && { id }), ...fields });
    }
  }
}
