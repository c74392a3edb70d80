import { createHmac, hkdfSync, randomInt } from 'node:crypto';
import { base64url, SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { personAt, weekAnchor } from '../rig/database.ts';
import { settingsFor } from '../rig/settings.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export type Request = {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
};

const { SESSION_KEYS, BOT_WEBHOOK_SECRET, CODE_PEPPER } = settingsFor(0);
const [kid, secret] = SESSION_KEYS.split(':') as [string, string];
const codeKey = Buffer.from(hkdfSync('sha256', CODE_PEPPER, '', 'code', 32));
const bot = new Webhook(BOT_WEBHOOK_SECRET);
const json = { 'content-type': 'application/json' };
const otp = '123456';
/** As long as people's messages are on average, about 200 characters. */
const messageText = 'I slept badly and keep thinking about tomorrow. '.repeat(4).trim();
const tokens = new Map<number, Promise<string>>();

/** The session token of a seeded user: the same for every call, as an app keeps its own for weeks. */
export function tokenOf(index: number): Promise<string> {
  const token = tokens.get(index) ?? signedFor(index);
  tokens.set(index, token);
  return token;
}

function signedFor(index: number): Promise<string> {
  const { userId, sessionId } = personAt(index);
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'HS256', typ: 'session+jwt', kid })
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(weekAnchor / 1000)
    .sign(base64url.decode(secret));
}

const randomAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

/** The query is for the bare Worker, which reads no token. */
export async function meRequest(index: number): Promise<Request> {
  return { method: 'GET', path: `/api/user/me?id=${personAt(index).userId}`, headers: await ownHeaders(index) };
}

/** A message of the user; the query is for the bare Worker. */
export async function chatRequest(index: number): Promise<Request> {
  const body = JSON.stringify({ id: crypto.randomUUID(), text: messageText });
  const headers = { ...json, ...(await ownHeaders(index)) };
  return { method: 'POST', path: `/api/user/chat/messages?id=${personAt(index).userId}`, headers, body };
}

const audio = 'audio/ogg;codecs=opus';

/** A recording of the user; the `user` in the path is for the bare Worker. */
export async function recordingRequest(index: number, body: Uint8Array, id = crypto.randomUUID()): Promise<Request> {
  const path = `/api/user/chat/voice?id=${id}&seconds=60&user=${personAt(index).userId}`;
  return { method: 'POST', path, headers: { ...(await ownHeaders(index)), 'content-type': audio }, body };
}

export async function readRecording(index: number, id: string): Promise<Request> {
  const path = `/api/user/chat/voice/${id}?user=${personAt(index).userId}`;
  return { method: 'GET', path, headers: await ownHeaders(index) };
}

const ownHeaders = async (index: number) => ({
  authorization: `Bearer ${await tokenOf(index)}`,
  'cf-connecting-ip': randomAddress(),
});

/** A call about a user, signed as the bot signs. */
function botRequest(path: string, index: number, more: object = {}): Request {
  const body = JSON.stringify({ phone: personAt(index).phone, ...more });
  const [id, at] = [`msg_${crypto.randomUUID()}`, new Date()];
  const headers = {
    ...json,
    'cf-connecting-ip': randomAddress(),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': bot.sign(id, at, body),
  };
  return { method: 'POST', path, headers, body };
}

/** A usage post of one message. */
export const usageRequest = (index: number, path = '/api/bot/usage') => botRequest(path, index);

/** A reply of the bot whose text begins with a number. */
export const replyRequest = (index: number, number: number) =>
  botRequest('/api/bot/messages', index, { id: `reply-${crypto.randomUUID()}`, text: `${number} ${messageText}` });

/** The bot asks for a recording. */
export const fetchedRecording = (index: number, id: string) => botRequest('/api/bot/voice', index, { id });

/** A reply of the bot with a voice. */
export function spokenReply(index: number, bytes: Buffer): Request {
  const voice = { type: audio, seconds: 60, data: bytes.toString('base64') };
  return botRequest('/api/bot/messages', index, { id: `reply-${crypto.randomUUID()}`, text: messageText, voice });
}

/** The first users consent to the conversation. */
export async function consentAll({ url }: { url: string }, users: number): Promise<void> {
  const caller = new Caller(url, 8);
  const consent = async (index: number): Promise<Request> => {
    const headers = { ...json, ...(await ownHeaders(index)) };
    return { method: 'PUT', path: '/api/user/chat/consent', headers, body: JSON.stringify({ version: 'bench' }) };
  };
  await Promise.all(Array.from({ length: users }, async (_, index) => caller.call(await consent(index))));
  await caller.close();
}

/** The right code, valid once, which `codeRow` must have inserted. */
export async function verifyRequest(index: number): Promise<Request> {
  const body = JSON.stringify({ phone: personAt(index).phone, otp });
  const headers = { ...json, 'cf-connecting-ip': randomAddress() };
  return { method: 'POST', path: '/api/auth/verify-otp', headers, body };
}

/** SQL that gives a seeded user a fresh code. */
export function codeRow(index: number): { sql: string; args: (string | number)[] } {
  const { phone } = personAt(index);
  const mac = createHmac('sha256', codeKey).update(`${phone}|${otp}`).digest('hex');
  const sql = `insert or replace into codes (phone, mac, sent_by, expires_at, tries_left) values (?, ?, 'bench', ?, 5)`;
  return { sql, args: [phone, mac, Date.now() + 300_000] };
}

/** Calls a server over connections that stay open, one call at a time on each. */
export class Caller {
  readonly #pool: Pool;

  constructor(url: string, connections = 1) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  /** Makes one call and reads the complete response; throws unless it is a 200. */
  async call({ method, path, headers, body }: Request): Promise<string> {
    const answer = await this.#pool.request({ method, path, headers, body: body ?? null });
    const isAudio = answer.headers['content-type'] === audio;
    const text = isAudio ? `${(await answer.body.arrayBuffer()).byteLength} bytes` : await answer.body.text();
    if (answer.statusCode !== 200) {
      throw new Error(`${method} ${path.split('?')[0]} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
    }
    return text;
  }

  /** Makes the calls one after the other, with a pause after each; returns the duration of each, in ms. */
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

  close(): Promise<void> {
    return this.#pool.close();
  }
}
