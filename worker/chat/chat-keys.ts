import { fromBase64, toBase64 } from '../lib/base64.ts';
import { memoize } from '../lib/memoize.ts';
import { seal, unseal } from '../lib/sealed-bytes.ts';
import type { Settings } from '../settings.ts';

/** The key of one conversation in the user's row: encrypted by the key `keyId` of `CHAT_KEYS`. */
export type WrappedKey = { chatKey: string; chatKeyId: string };

type WrappingKey = { keyId: string; key: Promise<CryptoKey> };

const encoder = new TextEncoder();
const keyBytes = 32;

/** No key of `CHAT_KEYS` opens this conversation: its secret was removed too early, or the row was changed. */
export class UnusableChatKey extends Error {}

/** A random key for a new conversation, wrapped for the user's row. */
export function newChatKey(settings: Settings, userId: string): Promise<WrappedKey> {
  return wrap(settings, userId, crypto.getRandomValues(new Uint8Array(keyBytes)));
}

/** The key that encrypts the messages of a user. */
export async function openChatKey(settings: Settings, userId: string, wrapped: WrappedKey): Promise<CryptoKey> {
  const bytes = await unwrap(settings, userId, wrapped);
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** The key, rewrapped by the first of `CHAT_KEYS`. */
export async function rewrapChatKey(settings: Settings, userId: string, wrapped: WrappedKey): Promise<WrappedKey> {
  return wrap(settings, userId, new Uint8Array(await unwrap(settings, userId, wrapped)));
}

/** The id of the key that wraps new ones. */
export function firstChatKeyId(settings: Settings): string {
  return ringOf(settings)[0]!.keyId;
}

async function wrap(settings: Settings, userId: string, bytes: Uint8Array<ArrayBuffer>): Promise<WrappedKey> {
  const { keyId, key } = ringOf(settings)[0]!;
  return { chatKey: toBase64(await seal(await key, contextOf(userId), bytes)), chatKeyId: keyId };
}

async function unwrap(settings: Settings, userId: string, { chatKey, chatKeyId }: WrappedKey): Promise<ArrayBuffer> {
  const wrapping = ringOf(settings).find(({ keyId }) => keyId === chatKeyId);
  if (!wrapping) throw new UnusableChatKey(`CHAT_KEYS has no key ${chatKeyId}`);
  return unseal(await wrapping.key, contextOf(userId), fromBase64(chatKey).buffer).catch(() => {
    throw new UnusableChatKey(`key ${chatKeyId} of CHAT_KEYS does not open this conversation`);
  });
}

const ringOf = memoize((settings: Settings): WrappingKey[] =>
  settings.CHAT_KEYS.trim()
    .split(/\s+/)
    .map((entry) => {
      const [keyId = '', secret = ''] = entry.split(':');
      return { keyId, key: deriveWrappingKey(secret) };
    }),
);

async function deriveWrappingKey(secret: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey']);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode('solace/chat-kek/v1'),
  };
  return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

function contextOf(userId: string): string {
  return `dek|v1|${userId}`;
}
