import { decodeJwt } from 'jose';
import { Webhook } from 'standardwebhooks';
import { botRoutes, pageRoutes } from '#contract/routes';
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
  /** Takes the place of `:id` in the path. */
  id?: string;
  query?: Record<string, string>;
  body?: object | undefined;
  recording?: Recording | undefined;
  address?: string;
  headers?: Record<string, string>;
  /** Whose call it is, if neither token nor body says so. */
  phone?: string;
  /** The time after which the caller disconnects. */
  hangUpMs?: number | undefined;
};

const routes = { ...pageRoutes, ...botRoutes };
export type Call = keyof typeof routes;
export type BotCall = keyof typeof botRoutes;

const timed = new Set<Call>(['getMe', 'botUsage']);
const patienceMs = 20_000;
const [bytes, body] = [Buffer.alloc(0), {}];
const noAnswer: Answer = {
  status: 0,
  code: 'no_answer',
  retryAfter: 0,
  requestId: null,
  bytes,
  body,
};

export class Site {
  readonly url: string;
  readonly #bot: Webhook;
  readonly #figures: CallFigures & Partial<Figures>;

  constructor(url: string, botSecret: string, figures: CallFigures & Partial<Figures>) {
    this.url = url;
    this.#bot = new Webhook(botSecret);
    this.#figures = figures;
  }

  async call(name: Call, options: Options = {}): Promise<Answer> {
    const [begun, at] = [performance.now(), Date.now()];
    const answer = await this.#ask(name, options).catch(() => noAnswer);
    this.#figures.answered(name, answer.code);
    if (timed.has(name) && answer.code === null) this.#figures.latencies?.add(begun);
    this.#record(at, name, options, answer);
    return answer;
  }

  /** One call signed as the bot; the id is its idempotency key. */
  bot(name: BotCall, id: string, body: object, hangUpMs?: number): Promise<Answer> {
    return this.call(name, {
      body,
      headers: signedHeaders(this.#bot, id, JSON.stringify(body)),
      hangUpMs,
    });
  }

  #record(at: number, name: Call, options: Options, { status, code, requestId }: Answer): void {
    const { phone, id }: Json = { phone: options.phone, ...options.body };
    const { sub = phone, sid = '-' } = options.token
      ? decodeJwt<{ sid?: string }>(options.token)
      : {};
    const result = [name, id && `(${id})`, status, code, `after ${Date.now() - at} ms`]
      .filter(Boolean)
      .join(' ');
    const text = `${result}, session ${sid.slice(0, 8)}, request ${requestId ?? '-'}`;
    this.#figures.timeline?.add({ at, of: sub, text, requestId });
  }

  async #ask(name: Call, options: Options): Promise<Answer> {
    const {
      id = '',
      query,
      token,
      body,
      recording,
      address,
      headers,
      hangUpMs = patienceMs,
    } = options;
    const { method, path } = routes[name];
    const search = query ? `?${new URLSearchParams(query)}` : '';
    const response = await fetch(this.url + path.replace(':id', encodeURIComponent(id)) + search, {
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
    const isJson = response.headers.get('content-type')?.includes('json');
    const json: Json = isJson ? JSON.parse(bytes.toString()) : {};
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
