import { createHmac, randomInt } from 'node:crypto';
import { base64url, SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { personAt, weekAnchor } from '../rig/person.ts';
import { settingsFor } from '../rig/settings.ts';

export type Request = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string };

const { SESSION_KEYS, BOT_WEBHOOK_SECRET, CODE_PEPPER } = settingsFor(0);
const [kid, secret] = SESSION_KEYS.split(':') as [string, string];
const bot = new Webhook(BOT_WEBHOOK_SECRET);
const json = { 'content-type': 'application/json' };
const otp = '123456';
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

/** The `id` is for the bare Worker, which reads no token. */
export async function meRequest(index: number): Promise<Request> {
  const headers = { authorization: `Bearer ${await tokenOf(index)}`, 'cf-connecting-ip': randomAddress() };
  return { method: 'GET', path: `/api/user/me?id=${personAt(index).userId}`, headers };
}

/** A usage post of one message, signed as the bot signs. */
export function usageRequest(index: number, path = '/api/bot/usage'): Request {
  const body = JSON.stringify({ phone: personAt(index).phone });
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

/** The right code, once: `codeRow` must have put it there. */
export function verifyRequest(index: number): Request {
  const body = JSON.stringify({ phone: personAt(index).phone, otp });
  return {
    method: 'POST',
    path: '/api/auth/verify-otp',
    headers: { ...json, 'cf-connecting-ip': randomAddress() },
    body,
  };
}

/** SQL that gives a seeded user a fresh code. */
export function codeRow(index: number): { sql: string; args: (string | number)[] } {
  const { phone } = personAt(index);
  const mac = createHmac('sha256', CODE_PEPPER).update(`code|${phone}|${otp}`).digest('hex');
  const sql = `insert or replace into codes (phone, mac, sent_by, expires_at, tries_left) values (?, ?, 'bench', ?, 5)`;
  return { sql, args: [phone, mac, Date.now() + 300_000] };
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}
