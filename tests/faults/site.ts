import { decodeJwt } from 'jose';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../sandbox/bot/calls.ts';
import type { Recording } from './person.ts';
import type { CallFigures, Figures } from './records.ts';

export type Json = Record<string, any>;

/** `status` is 0 without a response; `code` is null for a 2xx. */
export type Answer = {
  status: number;
  code: string | null;
  retryAfter: number;
  requestId: string | null;
  bytes: Buffer;
  body: Json;
};

export type Options = {
  token?: string | undefined;
  body?: object;
  /** Sent as it is, in place of `body`. */
  recording?: Recording | undefined;
  address?: string;
  headers?: Record<string, string>;
  /** Whose call it is, if neither token nor body says so. */
  phone?: string;
};

/** Calls that only use the database. */
const timed = new Set(['profile', 'bot usage']);
const patienceMs = 20_000;
const noAnswer: Answer = {
  status: 0,
  code: 'no_answer',
  retryAfter: 0,
  requestId: null,
  bytes: Buffer.alloc(0),
  body: {},
};

/** Calls the product's API as its clients do, and counts the results. */
export class Site {
  readonly url: string;
  readonly #bot: Webhook;
  readonly #figures: CallFigures & Partial<Figures>;

  constructor(url: string, botSecret: string, figures: CallFigures & Partial<Figures>) {
    this.url = url;
    this.#bot = new Webhook(botSecret);
    this.#figures = figures;
  }

  /** One call; `hangUpMs` is the time after which the caller disconnects. */
  async call(kind: string, method: string, path: string, options: Options = {}, hangUpMs = patienceMs) {
    const [begun, at] = [performance.now(), Date.now()];
    const answer = await this.#ask(method, path, options, hangUpMs).catch(() => noAnswer);
    this.#figures.answered(kind, answer.code);
    if (timed.has(kind) && answer.code === null) this.#figures.latencies?.add(begun);
    this.#record(at, kind, options, answer);
    return answer;
  }

  /** One call signed as the bot; the id is its idempotency key. */
  bot(kind: string, path: string, id: string, body: object, hangUpMs?: number): Promise<Answer> {
    const headers = signedHeaders(this.#bot, id, JSON.stringify(body));
    return this.call(kind, 'POST', path, { body, headers }, hangUpMs);
  }

  #record(at: number, kind: string, options: Options, { status, code, requestId }: Answer): void {
    const { phone, id }: Json = { phone: options.phone, ...options.body };
    const { sub = phone, sid = '-' } = options.token ? decodeJwt<{ sid?: string }>(options.token) : {};
    const result = [kind, id && `(${id})`, status, code, `after ${Date.now() - at} ms`].filter(Boolean).join(' ');
    const text = `${result}, session ${sid.slice(0, 8)}, request ${requestId ?? '-'}`;
    this.#figures.timeline?.add({ at, of: sub, text, requestId });
  }

  async #ask(method: string, path: string, options: Options, hangUpMs: number): Promise<Answer> {
    const { token, body, recording, address, headers } = options;
    const response = await fetch(this.url + path, {
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
    const bytes = Buffer.from(await response.arrayBuffer());
    const json = parse(bytes);
    return {
      status: response.status,
      code: response.ok ? null : String(json.code ?? `http_${response.status}`),
      retryAfter: Number(response.headers.get('retry-after') ?? 0),
      requestId: response.headers.get('x-request-id'),
      bytes,
      body: json,
    };
  }
}

/** Empty for bytes that are no JSON. */
function parse(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return {};
  }
}
