import { memoize } from './memoize.ts';

const encoder = new TextEncoder();

const hexOf = (bytes: ArrayBuffer): string => new Uint8Array(bytes).toHex();

export async function sha256(text: string): Promise<string> {
  return hexOf(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
}

export const toBase64 = (bytes: ArrayBuffer): string => new Uint8Array(bytes).toBase64();

/** Throws if the text is not base64. */
export const fromBase64 = (text: string): ArrayBuffer => Uint8Array.fromBase64(text).buffer;

/** A leaked key affects one purpose. */
export type HashPurpose =
  | 'code'
  | 'challenge'
  | 'link-code'
  | 'phone-change'
  | 'trial'
  | 'trial-link'
  | 'left-week'
  | 'phone'
  | 'limit'
  | 'log'
  | 'jti'
  | 'bot-call'
  | 'bot-call-id'
  | 'conflict'
  | 'push'
  | 'message-id'
  | 'binding'
  | 'claim'
  | 'code-message'
  | 'session'
  | 'receipt'
  | 'receipt-mail'
  | 'restore';

export async function keyedHash(
  secret: string,
  purpose: HashPurpose,
  ...parts: string[]
): Promise<string> {
  const key = await keysOf(secret)(purpose);
  return hexOf(await crypto.subtle.sign('HMAC', key, encoder.encode(parts.join('|'))));
}

export function keyedHashes(
  secrets: string[],
  purpose: HashPurpose,
  ...parts: string[]
): Promise<string[]> {
  return Promise.all(secrets.map((secret) => keyedHash(secret, purpose, ...parts)));
}

const keysOf = memoize((secret: string) =>
  memoize((purpose: HashPurpose) => deriveKey(secret, purpose)),
);

/** RFC 5869, section 3.1. */
async function deriveKey(secret: string, purpose: HashPurpose): Promise<CryptoKey> {
  const master = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
  ]);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: encoder.encode(purpose),
  };
  const algorithm = {
    name: 'HMAC',
    hash: 'SHA-256',
    length: 256,
  };
  return crypto.subtle.deriveKey(derivation, master, algorithm, false, ['sign']);
}

export type SealPurpose = 'parked-event' | 'event' | 'claim' | 'receipt-mail';

export const sealingKey = memoize((secret: string) =>
  memoize(async (purpose: SealPurpose) => {
    const master = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
      'deriveKey',
    ]);
    const info = encoder.encode(`seal/${purpose}`);
    const derivation = {
      name: 'HKDF',
      hash: 'SHA-256',
      salt: new Uint8Array(0),
      info,
    };
    return crypto.subtle.deriveKey(derivation, master, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]);
  }),
);

const nonceBytes = 12;

/** AES-256-GCM, nonce first. */
export async function seal(
  key: CryptoKey,
  context: string,
  plain: BufferSource,
): Promise<ArrayBuffer> {
  const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = await crypto.subtle.encrypt(algorithm(iv, context), key, plain);
  // Not a copy beside it, since a recording has 2 MB.
  const whole = new Uint8Array(sealed.transfer(nonceBytes + sealed.byteLength));
  whole.copyWithin(nonceBytes, 0);
  whole.set(iv);
  return whole.buffer;
}

/** Throws if the key, the context or any byte differs. */
export function unseal(key: CryptoKey, context: string, sealed: ArrayBuffer): Promise<ArrayBuffer> {
  const iv = new Uint8Array(sealed, 0, nonceBytes);
  return crypto.subtle.decrypt(algorithm(iv, context), key, new Uint8Array(sealed, nonceBytes));
}

export function unsealKey(
  key: CryptoKey,
  context: string,
  sealed: ArrayBuffer,
): Promise<CryptoKey> {
  const [iv, wrapped] = [new Uint8Array(sealed, 0, nonceBytes), new Uint8Array(sealed, nonceBytes)];
  return crypto.subtle.unwrapKey('raw', wrapped, key, algorithm(iv, context), 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
}

function algorithm(iv: Uint8Array<ArrayBuffer>, context: string) {
  return {
    name: 'AES-GCM',
    iv,
    additionalData: encoder.encode(context),
  };
}
