import { hexOf } from '../hex.ts';

const encoder = new TextEncoder();
const imported = new Map<string, Promise<CryptoKey>>();

/** HMAC-SHA256 of a purpose and its parts, as lower-case hex. */
export async function keyedHash(pepper: string, ...parts: string[]): Promise<string> {
  return hexOf(await crypto.subtle.sign('HMAC', await hmacKey(pepper), encoder.encode(parts.join('|'))));
}

/** The same under every pepper in use, the present one first. */
export function keyedHashes(peppers: string[], ...parts: string[]): Promise<string[]> {
  return Promise.all(peppers.map((pepper) => keyedHash(pepper, ...parts)));
}

function hmacKey(secret: string): Promise<CryptoKey> {
  let key = imported.get(secret);
  if (!key) {
    key = crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    imported.set(secret, key);
  }
  return key;
}
