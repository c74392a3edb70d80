import { env, exports } from 'cloudflare:workers';
import { Webhook } from 'standardwebhooks';

type Json = Record<string, any>;
export type Answer = { status: number; headers: Headers; body: Json; text: string };
type Options = { token?: string | undefined; body?: unknown; headers?: Record<string, string>; address?: string };

export const vars = env as unknown as Record<string, string>;
const worker = (exports as unknown as { default: Fetcher }).default;

/** A request through the front door, as it is. */
export function send(path: string, init: RequestInit = {}): Promise<Response> {
  return worker.fetch(new Request(`http://solace.test${path}`, init));
}

/** One call of the API and its JSON answer; every person has an address of their own. */
export async function call(method: string, path: string, options: Options = {}): Promise<Answer> {
  const headers = new Headers({ 'cf-connecting-ip': options.address ?? randomAddress(), ...options.headers });
  if (options.token) headers.set('authorization', `Bearer ${options.token}`);
  if (options.body !== undefined) headers.set('content-type', 'application/json');
  const body = options.body === undefined ? {} : { body: JSON.stringify(options.body) };
  const response = await send(path, { method, headers, ...body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {}, text };
}

/** A call signed the way the bot signs. */
export async function botCall(path: string, body: unknown, id = crypto.randomUUID(), at = new Date()): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(vars.BOT_WEBHOOK_SECRET!.split(' ')[0]!).sign(id, at, text),
  };
  const response = await send(path, { method: 'POST', headers, body: text });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(answer), text: answer };
}

export function randomAddress(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(3));
  return `10.${bytes.join('.')}`;
}
