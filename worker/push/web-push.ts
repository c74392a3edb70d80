import { base64url, SignJWT } from 'jose';
import type { KeyPair } from '../setting-rules.ts';

export type SubscriptionKeys = { p256dh: string; auth: string };

/** Only a test gives its own. */
export type Ephemeral = { keys: CryptoKeyPair; salt: Uint8Array<ArrayBuffer> };

const encoder = new TextEncoder();
const curve = { name: 'ECDH', namedCurve: 'P-256' };
/** One record holds the whole message. */
const recordBytes = 4096;
const [saltBytes, keyBytes, nonceBytes] = [16, 16, 12];
/** The delimiter of the last record (RFC 8188, section 2). */
const lastRecord = 2;
const tokenLifetimeSeconds = 12 * 60 * 60;

/** RFC 8291, with the encoding `aes128gcm` of RFC 8188. */
export async function encryptPush(
  text: string,
  subscription: SubscriptionKeys,
  ephemeral?: Ephemeral,
): Promise<Uint8Array<ArrayBuffer>> {
  const { keys, salt } = ephemeral ?? (await newEphemeral());
  const theirs = new Uint8Array(base64url.decode(subscription.p256dh));
  const ours = new Uint8Array(
    (await crypto.subtle.exportKey('raw', keys.publicKey)) as ArrayBuffer,
  );

  const receiver = await crypto.subtle.importKey('raw', theirs, curve, false, []);
  const agreement = { name: 'ECDH', public: receiver };
  const shared = await crypto.subtle.deriveBits(agreement, keys.privateKey, 256);

  const info = join(encoder.encode('WebPush: info\0'), theirs, ours);
  const secret = await hkdf(
    new Uint8Array(shared),
    new Uint8Array(base64url.decode(subscription.auth)),
    info,
    32,
  );

  const key = await hkdf(secret, salt, encode('Content-Encoding: aes128gcm\0'), keyBytes);
  const iv = await hkdf(secret, salt, encode('Content-Encoding: nonce\0'), nonceBytes);
  const cipher = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']);

  const plain = join(encoder.encode(text), Uint8Array.of(lastRecord));
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, cipher, plain);

  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, recordBytes);
  return join(salt, size, Uint8Array.of(ours.length), ours, new Uint8Array(sealed));
}

/** RFC 8292; `contact` is a `mailto:` address. */
export async function vapidHeader(
  { publicKey, privateKey }: KeyPair,
  { endpoint, contact, now }: { endpoint: string; contact: string; now: number },
): Promise<string> {
  const point = base64url.decode(publicKey);
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: privateKey,
    x: base64url.encode(point.slice(1, 33)),
    y: base64url.encode(point.slice(33)),
  };

  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const signing = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign']);

  const token = await new SignJWT()
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setAudience(new URL(endpoint).origin)
    .setExpirationTime(Math.floor(now / 1000) + tokenLifetimeSeconds)
    .setSubject(contact)
    .sign(signing);

  return `vapid t=${token}, k=${publicKey}`;
}

export async function isPublicKey(text: string): Promise<boolean> {
  try {
    await crypto.subtle.importKey('raw', new Uint8Array(base64url.decode(text)), curve, false, []);
    return true;
  } catch {
    return false;
  }
}

async function newEphemeral(): Promise<Ephemeral> {
  const keys = (await crypto.subtle.generateKey(curve, true, ['deriveBits'])) as CryptoKeyPair;
  return { keys, salt: crypto.getRandomValues(new Uint8Array(saltBytes)) };
}

async function hkdf(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const bits = await crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    base,
    8 * bytes,
  );
  return new Uint8Array(bits);
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return join(encoder.encode(text));
}
