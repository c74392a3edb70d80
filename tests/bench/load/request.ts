import { createHmac, hkdfSync, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { base64url, SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { type Dispatcher, Pool } from 'undici';
import { consentVersion } from '../../../worker/contract/chat-limits.ts';
import { memoize } from '../../../worker/lib/memoize.ts';
import { signedHeaders } from '../../sandbox/bot/calls.ts';
import { personAt, weekAnchor } from '../rig/database.ts';
import { settingsFor } from '../rig/settings.ts';

export type Request = Dispatcher.RequestOptions;

const { SESSION_KEYS, BOT_WEBHOOK_SECRET, CODE_PEPPER } = settingsFor(0);
const [kid = '', secret = ''] = SESSION_KEYS.split(':');
const codeKey = Buffer.from(hkdfSync('sha256', CODE_PEPPER, '', 'code', 32));
const bot = new Webhook(BOT_WEBHOOK_SECRET);
const otp = '123456';
/** As long as people's messages are on average, about 200 characters. */
const messageText = 'I slept badly and keep thinking about tomorrow. '.repeat(4).trim();
const audio = 'audio/ogg;codecs=opus';

/** The session token of a seeded user: the same for every call, as an app keeps its own for weeks. */
export const tokenOf = memoize((index: number): Promise<string> => {
  const { id } = personAt(index);
  return new SignJWT({ sid: id })
    .setProtectedHeader({ alg: 'HS256', typ: 'session+jwt', kid })
    .setSubject(id)
    .setIssuedAt()
    .setExpirationTime(weekAnchor / 1000)
    .sign(base64url.decode(secret));
}, Infinity);

const address = () => ({
  'cf-connecting-ip': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
});

/** A call of a user. The bare Worker reads no token, but the `user` in the query. */
async function userRequest(
  index: number,
  method: Request['method'],
  path: string,
  body?: object,
): Promise<Request> {
  const url = new URL(path, 'http://localhost');
  url.searchParams.set('user', personAt(index).id);
  const type = body instanceof Uint8Array ? audio : 'application/json';
  const own = {
    authorization: `Bearer ${await tokenOf(index)}`,
    ...address(),
  };
  const headers = body ? { ...own, 'content-type': type } : own;
  const sent = body && { body: body instanceof Uint8Array ? body : JSON.stringify(body) };
  return {
    method,
    path: url.pathname + url.search,
    headers,
    ...sent,
  };
}

export const meRequest = (index: number) => userRequest(index, 'GET', '/api/user/me');
export const platformRequest = (index: number) => userRequest(index, 'GET', '/api/user/platform');
export const ticketRequest = (index: number) =>
  userRequest(index, 'POST', '/api/user/stream-ticket');
export const planRequest = (index: number) =>
  userRequest(index, 'GET', '/api/billing/subscription');
export const chatRequest = (index: number) =>
  userRequest(index, 'POST', '/api/user/chat/messages', {
    id: crypto.randomUUID(),
    text: messageText,
  });
export const newestMessage = (index: number) => userRequest(index, 'GET', '/api/user/chat?limit=1');
export const recordingRequest = (index: number, bytes: Uint8Array, id: string) =>
  userRequest(index, 'POST', `/api/user/chat/voice?id=${id}&seconds=60`, bytes);
export const readRecording = (index: number, id: string) =>
  userRequest(index, 'GET', `/api/user/chat/voice/${id}`);
export const consentRequest = (index: number) =>
  userRequest(index, 'PUT', '/api/user/chat/consent', { version: consentVersion });

/** A code for a number that has written. */
export async function otpRequest(index: number): Promise<Request> {
  const body = JSON.stringify({ phone: personAt(index).phone });
  const headers = { 'content-type': 'application/json', ...address() };
  return {
    method: 'POST',
    path: '/api/auth/request-otp',
    headers,
    body,
  };
}

function botRequest(path: string, index: number, more: object = {}): Request {
  const body = JSON.stringify({ phone: personAt(index).phone, ...more });
  const headers = {
    ...address(),
    ...signedHeaders(bot, `msg_${crypto.randomUUID()}`, body),
  };
  return { method: 'POST', path, headers, body };
}

export const usageRequest = (index: number, path = '/api/bot/usage') => botRequest(path, index);

/** A reply of the bot whose text begins with a number. */
export const replyRequest = (index: number, number: number, path = '/api/bot/messages') =>
  botRequest(path, index, {
    id: `reply-${crypto.randomUUID()}`,
    text: `${number} ${messageText}`,
  });

export const fetchedRecording = (index: number, id: string) =>
  botRequest('/api/bot/voice', index, { id });

export function spokenReply(index: number, bytes: Buffer): Request {
  const voice = {
    type: audio,
    seconds: 60,
    data: bytes.toString('base64'),
  };
  return botRequest('/api/bot/messages', index, {
    id: `reply-${crypto.randomUUID()}`,
    text: messageText,
    voice,
  });
}

/** The right code, valid once, which `codeRow` must have inserted. */
export async function verifyRequest(index: number): Promise<Request> {
  const body = JSON.stringify({ phone: personAt(index).phone, otp });
  const headers = { 'content-type': 'application/json', ...address() };
  return {
    method: 'POST',
    path: '/api/auth/verify-otp',
    headers,
    body,
  };
}

export function codeRow(index: number): {
  sql: string;
  args: (string | number)[];
} {
  const { phone } = personAt(index);
  const mac = createHmac('sha256', codeKey).update(`${phone}|${otp}`).digest('hex');
  const sql = `insert or replace into codes (phone, challenge, mac, sent_by, sent_at, expires_at, tries_left)
    values (?, '', ?, 'bench', 0, ?, 5)`;
  return { sql, args: [phone, mac, Date.now() + 300_000] };
}

/** Calls a server over connections that stay open, one call at a time on each. */
export class Caller {
  readonly #pool: Pool;
  readonly #connections: number;

  constructor(url: string, connections = 1) {
    this.#connections = connections;
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  async call(request: Request): Promise<string> {
    const answer = await this.#pool.request(request);
    const text = await answer.body.text();
    if (answer.statusCode === 200) return text;
    throw new Error(
      `${request.method} ${request.path.split('?')[0]} answered ${answer.statusCode}: ${text.slice(0, 200)}`,
    );
  }

  async lap(requests: Request[], pauseMs = 0): Promise<number[]> {
    const times: number[] = [];
    for (const request of requests) {
      const begun = performance.now();
      await this.call(request);
      times.push(performance.now() - begun);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    return times;
  }

  /** Calls over all connections for so many ms, at most so many; returns the duration of each call, in ms, and their rate. */
  async flood(
    request: (call: number) => Promise<Request>,
    { ms, most }: { ms: number; most: number },
  ) {
    const times: number[] = [];
    const begun = performance.now();
    let next = 0;
    const run = async () => {
      while (performance.now() - begun < ms && next < most)
        times.push(...(await this.lap([await request(next++)])));
    };
    await Promise.all(Array.from({ length: this.#connections }, run));
    return {
      times,
      perSecond: (times.length * 1000) / (performance.now() - begun),
    };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
