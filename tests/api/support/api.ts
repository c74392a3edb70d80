import {
  createExecutionContext,
  waitOnExecutionContext,
  createScheduledController,
} from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { Webhook } from 'standardwebhooks';
import { endpoints } from '../../../worker/contract/endpoints.ts';
import workerModule from '../../../worker/index.ts';
import { advanceClock } from './clock.ts';

export type Answer = {
  status: number;
  headers: Headers;
  body: Record<string, any>;
  text: string;
};
export type Settings = Record<string, string> | undefined;
export type Options = {
  token?: string | undefined;
  body?: unknown;
  /** A raw body, instead of one made from a value. */
  text?: string;
  /** A body of bytes; `headers` give their type. */
  bytes?: ArrayBuffer;
  headers?: Record<string, string>;
  address?: string | undefined;
  settings?: Settings;
  signal?: AbortSignal;
};

export const vars = env as unknown as Record<string, string>;
export const botPaths = Object.values(endpoints).flatMap(({ access, path }) =>
  access === 'bot' ? [path] : [],
);
const origin = 'http://solace.test';
const worker = (exports as unknown as { default: Fetcher }).default;

async function sendWith(settings: Record<string, string>, request: Request): Promise<Response> {
  const ctx = createExecutionContext();
  const response = await workerModule.fetch(request, { ...env, ...settings }, ctx);
  await waitOnExecutionContext(ctx);
  return response;
}

export function send(path: string, init: RequestInit = {}): Promise<Response> {
  return worker.fetch(new Request(`${origin}${path}`, init));
}

/** Makes one API call and returns its JSON; every call has its own address unless given. */
export async function call(method: string, path: string, options: Options = {}): Promise<Answer> {
  const headers = new Headers({
    'cf-connecting-ip': options.address ?? newAddress(),
    ...options.headers,
  });
  if (options.token) headers.set('authorization', `Bearer ${options.token}`);
  const json = options.text ?? JSON.stringify(options.body);
  if (json !== undefined) headers.set('content-type', 'application/json');
  const { bytes, signal = null } = options;
  const request = new Request(`${origin}${path}`, {
    method,
    headers,
    body: bytes ?? json ?? null,
    signal,
  });
  const response = await (options.settings
    ? sendWith(options.settings, request)
    : worker.fetch(request));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? JSON.parse(text) : {},
    text,
  };
}

/** A call signed the way the bot signs. */
export const botCall = (
  path: string,
  body: unknown,
  id?: string,
  settings?: Settings,
): Promise<Answer> =>
  call('POST', path, {
    body,
    headers: botHeaders(JSON.stringify(body), id),
    settings,
  });

/** The headers of Standard Webhooks over a body. */
export function botHeaders(
  text: string,
  id: string = crypto.randomUUID(),
  at = new Date(),
  secret = vars.BOT_WEBHOOK_SECRET!,
) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, text),
  };
}

let addresses = 0;

/** An address that no other test has: one process runs all files. */
export function newAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

let networks = 0;

/** The first 48 bits of an IPv6 address, of a network that no other test has. */
export function newNetwork(): string {
  networks += 1;
  return `2001:db9:${networks.toString(16)}`;
}

export const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Runs the scheduled tasks, as Cloudflare does every minute or hour. */
export async function runCron(
  cron: '* * * * *' | '0 * * * *' = '* * * * *',
  settings: Settings = {},
): Promise<void> {
  const ctx = createExecutionContext();
  await workerModule.scheduled(
    createScheduledController({ cron }),
    { ...env, ...settings } as never,
    ctx,
  );
  await waitOnExecutionContext(ctx);
}

/** Runs the tasks of a minute after some time (ms) has passed. */
export function cronAfter(ms: number): Promise<void> {
  advanceClock(ms);
  return runCron();
}

export function parallel<T>(n: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: n }, (_, index) => work(index)));
}

/** How many answers have each status, such as `{ 200: 1, 429: 49 }`. */
export function tally(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The refusal of a field, for `toMatchObject`. */
export const invalidField = (path: string) => ({
  status: 400,
  body: { code: 'invalid_field', issues: [{ path }] },
});
