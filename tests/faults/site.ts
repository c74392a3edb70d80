import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../sandbox/bot/calls.ts';
import type { Recording } from './person.ts';
import { type CallFigures, type Latencies, callerOf, type Timeline } from './records.ts';

export type Json = Record<string, any>;

/** `status` is 0 without a response; `code` is null for a 2xx. */
export type Answer = {
  status: number;
  code: string | null;
  retryAfter: number;
  requestId: string | null;
  body: Json;
};

type Options = {
  token?: string | undefined;
  body?: object;
  /** Sent as it is, in place of `body`. */
  recording?: Recording | undefined;
  address?: string;
  headers?: Record<string, string>;
  /** Whose call it is, if neither token nor body says so. */
  phone?: string;
};

/** What records the calls besides the figures. */
type Records = { latencies?: Latencies; timeline?: Timeline };

/** Calls that only use the database. */
const timed = new Set(['profile', 'bot usage']);
const patienceMs = 20_000;
const noAnswer: Answer = { status: 0, code: 'no_answer', retryAfter: 0, requestId: null, body: {} };

/** Calls the product's API as its clients do, and counts the results. */
export class Site {
  readonly url: string;
  readonly #bot: Webhook;
  readonly #figures: CallFigures;
  readonly #records: Records;

  constructor(url: string, botSecret: string, figures: CallFigures, records: Records = {}) {
    this.url = url;
    this.#bot = new Webhook(botSecret);
    this.#figures = figures;
    this.#records = records;
  }

  /** One call; `hangUpMs` is the time after which the caller disconnects. */
  async call(
    kind: string,
    method: string,
    path: string,
    options: Options = {},
    hangUpMs = patienceMs,
  ): Promise<Answer> {
    const [begun, at] = [performance.now(), Date.now()];
    const answer = await this.#ask(method, path, options, hangUpMs).catch(() => noAnswer);
    this.#figures.answered(kind, answer.code);
    if (timed.has(kind) && answer.code === null) this.#records.latencies?.add(begun);
    this.#record(at, kind, options, answer);
    return answer;
  }

  /** One call signed as the bot; the id is its idempotency key. */
  bot(kind: string, path: string, id: string, body: object, hangUpMs?: number): Promise<Answer> {
    const headers = signedHeaders(this.#bot, id, JSON.stringify(body));
    return this.call(kind, 'POST', path, { body, headers }, hangUpMs);
  }

  /** The recording that a call returns, or the status of another response; 0 without one. */
  async recording(path: string, { token, phone, id }: { token?: string; phone?: string; id: string }) {
    const body = phone && { phone, id };
    const options = body
      ? { body, headers: signedHeaders(this.#bot, `fetch_${randomUUID()}`, JSON.stringify(body)) }
      : { token };
    try {
      const response = await this.#fetch(body ? 'POST' : 'GET', path, options, patienceMs);
      const bytes = await response.arrayBuffer();
      return response.status === 200 ? Buffer.from(bytes) : response.status;
    } catch {
      return 0;
    }
  }

  #record(at: number, kind: string, { token, body, phone }: Options, { status, code, requestId }: Answer): void {
    const { phone: named, id }: { phone?: string; id?: string } = { ...body };
    const text = [kind, id && `(${id})`, status, code, `after ${Date.now() - at} ms`].filter(Boolean).join(' ');
    this.#records.timeline?.call(at, { ...callerOf(token, phone ?? named), text, requestId });
  }

  async #ask(method: string, path: string, options: Options, hangUpMs: number): Promise<Answer> {
    const response = await this.#fetch(method, path, options, hangUpMs);
    const json = parse(await response.text());
    const code = response.ok ? null : String(json.code ?? `http_${response.status}`);
    const { status, headers: received } = response;
    const retryAfter = Number(received.get('retry-after') ?? 0);
    return { status, code, retryAfter, requestId: received.get('x-request-id'), body: json };
  }

  #fetch(method: string, path: string, options: Options, hangUpMs: number): Promise<Response> {
    const { token, body, recording, address, headers } = options;
    return fetch(this.url + path, {
      method,
      headers: {
        ...headers,
        ...(body && { 'content-type': 'application/json' }),
        ...(recording && { 'content-type': recording.type }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(address && { 'cf-connecting-ip': address }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(recording && { body: new Uint8Array(recording.bytes) }),
      signal: AbortSignal.timeout(hangUpMs),
    });
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
