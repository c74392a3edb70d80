import { base64url, jwtVerify, SignJWT, type JWTPayload } from 'jose';

export const sessionLifetimeMs = 30 * 86_400_000;
export const ticketLifetimeSeconds = 60;

/** What a token is good for: a session, or the opening of one stream. */
export type TokenType = 'session+jwt' | 'stream+jwt';
export type SessionClaims = { userId: string; sessionId: string };

type Key = { kid: string; secret: CryptoKey };
const rings = new Map<string, Promise<Key[]>>();

/** Signs a token with the ring's first key; `expiresAt` in unix seconds. */
export async function signToken(ring: string, type: TokenType, claims: SessionClaims, expiresAt: number) {
  const [key] = await keysOf(ring);
  return new SignJWT({ sid: claims.sessionId })
    .setProtectedHeader({ alg: 'HS256', typ: type, kid: key!.kid })
    .setSubject(claims.userId)
    .setIssuedAt(new Date())
    .setExpirationTime(expiresAt)
    .sign(key!.secret);
}

/** The claims of a token of one of these types, or null. */
export async function verifyToken(ring: string, types: TokenType[], token: string): Promise<SessionClaims | null> {
  const keys = await keysOf(ring);
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => keys.find((key) => key.kid === kid)?.secret ?? Promise.reject(new Error('unknown key')),
      { algorithms: ['HS256'], requiredClaims: ['sub', 'sid', 'iat', 'exp'] },
    );
    return types.includes(protectedHeader.typ as TokenType) ? claimsOf(payload) : null;
  } catch {
    return null;
  }
}

function claimsOf({ sub, sid }: JWTPayload): SessionClaims | null {
  return typeof sub === 'string' && typeof sid === 'string' ? { userId: sub, sessionId: sid } : null;
}

function keysOf(ring: string): Promise<Key[]> {
  let keys = rings.get(ring);
  if (!keys) {
    keys = Promise.all(ring.trim().split(/\s+/).map(importKey));
    rings.set(ring, keys);
  }
  return keys;
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
