import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../sandbox/bot/signed-headers.ts';
import type { CallFigures } from './figures.ts';
import type { Latencies } from './latencies.ts';

export type Json = Record<string, any>;

/** `status` is 0 without a response; `code` is null for a 2xx. */
export type Answer = { status: number; code: string | null; retryAfter: number; body: Json };

type Options = { token?: string | undefined; body?: object; address?: string; headers?: Record<string, string> };

/** Calls that only use the database. */
const timed = new Set(['profile', 'bot usage']);
const patienceMs = 20_000;
const noAnswer: Answer = { status: 0, code: 'no_answer', retryAfter: 0, body: {} };

/** Calls the product's API as its clients do, and counts the results. */
export class Site {
  readonly url: string;
  readonly #bot: Webhook;
  readonly #figures: CallFigures;
  readonly #latencies: Latencies | undefined;

  constructor(url: string, botSecret: string, figures: CallFigures, latencies?: Latencies) {
    this.url = url;
    this.#bot = new Webhook(botSecret);
    this.#figures = figures;
    this.#latencies = latencies;
  }

  /** One call; `hangUpMs` is the time after which the caller disconnects. */
  async call(
    kind: string,
    method: string,
    path: string,
    options: Options = {},
    hangUpMs = patienceMs,
  ): Promise<Answer> {
    const begun = performance.now();
    const answer = await this.#ask(method, path, options, hangUpMs).catch(() => noAnswer);
    this.#figures.answered(kind, answer.code);
    if (timed.has(kind) && answer.code === null) this.#latencies?.add(begun);
    return answer;
  }

  /** One call signed as the bot; the id is its idempotency key. */
  bot(kind: string, path: string, id: string, body: object, hangUpMs?: number): Promise<Answer> {
    const headers = signedHeaders(this.#bot, id, JSON.stringify(body));
    return this.call(kind, 'POST', path, { body, headers }, hangUpMs);
  }

  async #ask(method: string, path: string, options: Options, hangUpMs: number): Promise<Answer> {
    const { token, body, address, headers } = options;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...headers,
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(address && { 'cf-connecting-ip': address }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(hangUpMs),
    });
    const json = parse(await response.text());
    const code = response.ok ? null : String(json.code ?? `http_${response.status}`);
    return { status: response.status, code, retryAfter: Number(response.headers.get('retry-after') ?? 0), body: json };
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
