import { memoize } from './memoize.ts';

/**
 * Standard Webhooks (https://www.standardwebhooks.com) by WebCrypto.
 * The package of that name signs in JavaScript: a body of 2.6 MB then
 * holds the isolate for 80 ms and more, also if its signature is wrong.
 */
const encoder = new TextEncoder();
const algorithm = { name: 'HMAC', hash: 'SHA-256' };
const prefix = 'whsec_';
const version = 'v1';
/** How far the clocks of both sides may differ, in seconds. */
const toleranceSeconds = 5 * 60;

/** What is signed; `timestamp` in unix seconds. */
export type SignedMessage = {
  id: string;
  timestamp: number;
  body: string;
};

export async function signMessage(secrets: string[], message: SignedMessage): Promise<string> {
  const signatures = secrets.map(async (secret) => {
    const key = await keyOf(secret);
    const mac = await crypto.subtle.sign(algorithm, key, contentOf(message));
    return `${version},${new Uint8Array(mac).toBase64()}`;
  });
  return (await Promise.all(signatures)).join(' ');
}

export function isRecent({ timestamp }: Omit<SignedMessage, 'body'>, now: number): boolean {
  return Math.abs(Math.floor(now / 1000) - timestamp) <= toleranceSeconds;
}

/** By one of the secrets; compares in constant time. */
export async function isSigned(
  secrets: string[],
  message: SignedMessage,
  header: string,
): Promise<boolean> {
  const signatures = signaturesIn(header);
  if (signatures.length === 0) return false;
  const content = contentOf(message);

  for (const secret of secrets) {
    const key = await keyOf(secret);
    for (const signature of signatures)
      if (await crypto.subtle.verify(algorithm, key, signature, content)) return true;
  }
  return false;
}

const macBytes = 32;
/** A sender that rotates its secret sends two. */
const mostSignatures = 5;

function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, mostSignatures)
    .filter((each) => each.startsWith(`${version},`))
    .flatMap((each) => bytesOf(each.slice(version.length + 1)) ?? [])
    .filter(({ byteLength }) => byteLength === macBytes);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return null;
  }
}

function contentOf({ id, timestamp, body }: SignedMessage) {
  return encoder.encode(`${id}.${timestamp}.${body}`);
}

const keyOf = memoize((secret: string): Promise<CryptoKey> => {
  const base64 = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const bytes = Uint8Array.fromBase64(base64);
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
});
