import { base64url, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { memoize } from '../lib/memoize.ts';
import { sessionLifetimeMs } from '../identity/open-session.ts';
import { type SessionRef } from '../identity/user-session.ts';
import type { Settings } from '../settings.ts';
import { RequestError } from '../lib/request-error.ts';

export const ticketLifetimeSeconds = 60;
const supportSeconds = 60;

type TokenType = 'session+jwt' | 'stream+jwt' | 'support+jwt';

type Key = { kid: string; secret: CryptoKey };
/** `expiresAt` in unix seconds. */
type Signed = {
  type: string | undefined;
  expiresAt: number;
  ref: SessionRef;
};

/** Keeps verified tokens, since verifying costs CPU. */
const tokensKept = 1000;
const longestToken = 1000;

export function sessionToken(settings: Settings, ref: SessionRef, now: number): Promise<string> {
  return signToken(
    settings.SESSION_KEYS,
    'session+jwt',
    ref,
    Math.floor((now + sessionLifetimeMs) / 1000),
  );
}

export function supportToken(
  settings: Pick<Settings, 'SESSION_KEYS'>,
  userId: string,
): Promise<string> {
  const ref = { userId, sessionId: 'support' };
  return signToken(settings.SESSION_KEYS, 'support+jwt', ref, nowInSeconds() + supportSeconds);
}

/** `expiresAt` in unix seconds. */
export async function signToken(
  ring: string,
  type: TokenType,
  { userId, sessionId }: SessionRef,
  expiresAt: number,
): Promise<string> {
  const [key] = await ringOf(ring).keys;
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({
      alg: 'HS256',
      typ: type,
      kid: key!.kid,
    })
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(key!.secret);
}

export async function verifyToken(
  ring: string,
  types: TokenType[],
  token: string,
): Promise<SessionRef | null> {
  if (token.length > longestToken) return null;
  const found = await ringOf(ring).verified(token);
  if (!found || found.expiresAt <= nowInSeconds()) return null;
  return types.includes(found.type as TokenType) ? found.ref : null;
}

async function verify(keys: Key[], token: string): Promise<Signed | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) =>
        keys.find((key) => key.kid === kid)?.secret ?? Promise.reject(new Error('unknown key')),
      { algorithms: ['HS256'], requiredClaims: ['sub', 'sid', 'iat', 'exp'] },
    );
    const { sub, sid, exp } = payload;
    if (typeof sub !== 'string' || typeof sid !== 'string') return null;
    return {
      type: protectedHeader.typ,
      expiresAt: exp!,
      ref: { userId: sub, sessionId: sid },
    };
  } catch {
    return null;
  }
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const ringOf = memoize((text: string) => {
  const keys = Promise.all(text.trim().split(/\s+/).map(importKey));
  return {
    keys,
    verified: memoize(async (token: string) => verify(await keys, token), tokensKept),
  };
});

async function importKey(entry: string): Promise<Key> {
  const [kid = '', secret = ''] = entry.split(':');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return {
    kid,
    secret: await crypto.subtle.importKey(
      'raw',
      new Uint8Array(base64url.decode(secret)),
      algorithm,
      false,
      ['sign', 'verify'],
    ),
  };
}

export function bearerToken(request: Request): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
}

/** Null without one, 401 for a bad ticket. */
export async function sessionFromQuery(ring: string, request: Request): Promise<SessionRef | null> {
  const token = new URL(request.url).searchParams.get('token') ?? '';
  const ref = await verifyToken(ring, ['session+jwt', 'stream+jwt'], token);
  if (!ref && isTicket(token)) throw new RequestError('invalidToken');
  return ref;
}

function isTicket(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === 'stream+jwt';
  } catch {
    return false;
  }
}
