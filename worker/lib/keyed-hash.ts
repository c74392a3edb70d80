import { hexOf } from './hex.ts';
import { memoize } from './memoize.ts';

/** What a keyed hash is for. Each purpose has a key of its own, so that a leaked key affects one purpose alone. */
export type HashPurpose = 'code' | 'trial' | 'trial-link' | 'phone' | 'log' | 'jti';

const encoder = new TextEncoder();

/** HMAC-SHA256 of the parts under the purpose's key, as lower-case hex. */
export async function keyedHash(secret: string, purpose: HashPurpose, ...parts: string[]): Promise<string> {
  const key = await keysOf(secret)(purpose);
  return hexOf(await crypto.subtle.sign('HMAC', key, encoder.encode(parts.join('|'))));
}

/** The hash under every secret in use, the current one first. */
export function keyedHashes(secrets: string[], purpose: HashPurpose, ...parts: string[]): Promise<string[]> {
  return Promise.all(secrets.map((secret) => keyedHash(secret, purpose, ...parts)));
}

const keysOf = memoize((secret: string) => memoize((purpose: HashPurpose) => deriveKey(secret, purpose)));

/** The secrets are long and random, so HKDF needs no salt (RFC 5869, section 3.1). */
async function deriveKey(secret: string, purpose: HashPurpose): Promise<CryptoKey> {
  const master = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encoder.encode(purpose) };
  const algorithm = { name: 'HMAC', hash: 'SHA-256', length: 256 };
  return crypto.subtle.deriveKey(derivation, master, algorithm, false, ['sign']);
}
