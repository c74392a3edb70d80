import { base64url, CompactSign, jwtVerify } from 'jose';
import { Newest } from '../newest.ts';

export const sessionLifetimeMs = 30 * 86_400_000;
export const ticketLifetimeSeconds = 60;

/** What a token is good for: a session, or the opening of one stream. */
export type TokenType = 'session+jwt' | 'stream+jwt';
export type SessionClaims = { userId: string; sessionId: string };

type Key = { kid: string; secret: CryptoKey };
/** A token whose signature is good; `expiresAt` in unix seconds. */
type Signed = { type: string | undefined; expiresAt: number; claims: SessionClaims };
type Ring = { keys: Promise<Key[]>; signed: Newest<string, Signed> };

const rings = new Map<string, Ring>();
const encoder = new TextEncoder();
/** An app sends the same token for weeks: so many of them an isolate verifies once. A ticket is not seen again. */
const tokensKept = 1000;

/** Signs a token with the ring's first key; `expiresAt` in unix seconds. */
export async function signToken(ring: string, type: TokenType, claims: SessionClaims, expiresAt: number) {
  const [key] = await ringOf(ring).keys;
  const payload = { sid: claims.sessionId, sub: claims.userId, iat: nowInSeconds(), exp: expiresAt };
  return new CompactSign(encoder.encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'HS256', typ: type, kid: key!.kid })
    .sign(key!.secret);
}

/** The claims of a token of one of these types, or null. */
export async function verifyToken(ring: string, types: TokenType[], token: string): Promise<SessionClaims | null> {
  const { keys, signed } = ringOf(ring);
  const found = signed.get(token) ?? (await verify(await keys, token));
  if (!found || found.expiresAt <= nowInSeconds()) return null;
  if (found.type === 'session+jwt') signed.set(token, found);
  return types.includes(found.type as TokenType) ? found.claims : null;
}

async function verify(keys: Key[], token: string): Promise<Signed | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => keys.find((key) => key.kid === kid)?.secret ?? Promise.reject(new Error('unknown key')),
      { algorithms: ['HS256'], requiredClaims: ['sub', 'sid', 'iat', 'exp'] },
    );
    const { sub, sid, exp } = payload;
    if (typeof sub !== 'string' || typeof sid !== 'string') return null;
    return { type: protectedHeader.typ, expiresAt: exp!, claims: { userId: sub, sessionId: sid } };
  } catch {
    return null;
  }
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function ringOf(text: string): Ring {
  let ring = rings.get(text);
  if (!ring) {
    ring = { keys: Promise.all(text.trim().split(/\s+/).map(importKey)), signed: new Newest(tokensKept) };
    rings.set(text, ring);
  }
  return ring;
}

async function importKey(entry: string): Promise<Key> {
  const [kid, secret] = entry.split(':') as [string, string];
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return {
    kid,
    secret: await crypto.subtle.importKey('raw', new Uint8Array(base64url.decode(secret)), algorithm, false, [
      'sign',
      'verify',
    ]),
  };
}
