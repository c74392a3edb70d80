import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { onTestFinished } from 'vitest';
import type { ChatMessage } from '../../../worker/contract/chat-schemas.ts';
import type { Env } from '../../../worker/env.ts';
import { call, send } from './api.ts';
import { until } from './clock.ts';
import { userOf } from './person.ts';
import { readEvents } from './read-events.ts';
import { textOf } from './sandbox.ts';

type LiveEvent = {
  id?: string | undefined;
  event?: string | undefined;
  type: string;
  [field: string]: any;
};

/** The live object of the user. */
export const liveUserOf = (token: string) =>
  (env as unknown as Env).LIVE_USER.getByName(userOf(token));

/** Every value of every row of a Durable Object, with bytes as text. */
export function wholeObject(token: string): Promise<string> {
  return runInDurableObject(liveUserOf(token), (_, { storage }) => {
    const ours =
      "select name from sqlite_master where name not like '%cf_%' and name not like 'sqlite_%'";
    const tables = storage.sql.exec<{ name: string }>(ours).toArray();
    const rows = tables.flatMap(({ name }) =>
      storage.sql.exec(`select * from "${name}"`).toArray(),
    );
    return rows.flatMap((row) => Object.values(row).map(textOf)).join('\n');
  });
}

export const openSockets = (token: string) =>
  runInDurableObject(liveUserOf(token), (_, state) => state.getWebSockets().length);

/** A ticket that opens streams. */
export const ticketOf = async (token: string): Promise<string> =>
  (await call('POST', '/api/user/stream-ticket', { token })).body.ticket;

/** An open usage stream, read as a browser reads it, until the test ends. */
export class OpenStream {
  status = 0;
  headers = new Headers();
  ended = false;
  /** The data of each event, with its id and its name. */
  protected readonly received: LiveEvent[] = [];
  readonly #abort = new AbortController();

  static open(token: string): Promise<OpenStream> {
    return new OpenStream().connect(`/api/user/usage-stream?token=${encodeURIComponent(token)}`);
  }

  /** A stream that has shown the current count. */
  static async opened(token: string): Promise<OpenStream> {
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    return stream;
  }

  get events(): LiveEvent[] {
    return this.received;
  }

  /** The counts of the usage that it has shown. */
  get counts(): number[] {
    return this.received.flatMap(({ type, count }) => (type === 'usageUpdate' ? [count] : []));
  }

  /** Waits until the condition holds. */
  async until(condition: (stream: this) => boolean): Promise<void> {
    const state = () => ({ ended: this.ended, events: this.received });
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
    const response = await send(path, {
      signal: this.#abort.signal,
      headers,
    });
    this.status = response.status;
    this.headers = response.headers;
    if (response.body) void this.#read(response.body);
    return this;
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      for await (const { data, ...event } of readEvents(body))
        this.received.push({ ...event, ...JSON.parse(data) });
    } catch {
      // An aborted stream has ended too.
    }
    this.ended = true;
  }
}

const ofUsage = new Set(['connection_established', 'usageUpdate', 'subscription_update']);

/** An open chat stream; its events are those of the conversation. */
export class OpenChat extends OpenStream {
  static override open(
    token: string,
    after?: number,
    headers: Record<string, string> = {},
  ): Promise<OpenChat> {
    const query = `token=${encodeURIComponent(token)}${after === undefined ? '' : `&after=${after}`}`;
    return new OpenChat().connect(`/api/user/chat-stream?${query}`, headers);
  }

  override get events(): LiveEvent[] {
    return this.received.filter(({ type }) => !ofUsage.has(type));
  }

  get messages(): ChatMessage[] {
    return this.events.flatMap(({ type, message }) => (type === 'message' ? [message] : []));
  }

  /** The events of the usage, the first of which has the profile. */
  get usage(): LiveEvent[] {
    return this.received.filter(({ type }) => ofUsage.has(type));
  }
}
