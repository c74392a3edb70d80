import type { PhoneNumber } from '#db/schema';
import { fromBase64, seal, toBase64, unseal, unsealKey } from '../lib/crypto.ts';
import { log } from '../lib/log.ts';
import { memoize } from '../lib/memoize.ts';
import { RequestError } from '../lib/request-error.ts';
import { boundMark, chatKeyName } from '../lib/secrets.ts';
import type { Settings } from '../settings.ts';

/** With `boundMark` the key is bound to the number, too. */
export type WrappedKey = { chatKey: string; chatKeyId: string };

export type ChatUser = { id: string; phone: PhoneNumber };

export type ChatRow = ChatUser & {
  chatKey: string | null;
  chatKeyId: string | null;
  chatEpoch: number;
};

export type KeyOfEpoch = (epoch: number) => Promise<CryptoKey | null>;

type WrappingKey = { keyId: string; key: Promise<CryptoKey> };

export const encoder = new TextEncoder();

const keyBytes = 32;

/** Its secret was removed too early, or the row was changed. */
export class UnusableChatKey extends Error {}

export function newChatKey(settings: Settings, user: ChatUser): Promise<WrappedKey> {
  return wrap(settings, user, crypto.getRandomValues(new Uint8Array(keyBytes)));
}

export async function rebindChatKey(
  settings: Settings,
  row: ChatRow,
  phone: PhoneNumber,
): Promise<WrappedKey | null> {
  const { id, chatKey, chatKeyId } = row;
  if (!chatKey || !chatKeyId) return null;
  return orUnavailable(chatKeyId, async () => {
    const bytes = await unwrapBy(unseal, settings, row, { chatKey, chatKeyId });
    return wrap(settings, { id, phone }, new Uint8Array(bytes));
  });
}

export async function rewrapChatKey(
  settings: Settings,
  user: ChatUser,
  wrapped: WrappedKey,
): Promise<WrappedKey> {
  return wrap(settings, user, new Uint8Array(await unwrapBy(unseal, settings, user, wrapped)));
}

export function presentChatKeyId(settings: Settings): string {
  return `${ringOf(settings)[0]!.keyId}${boundMark}`;
}

async function wrap(
  settings: Settings,
  user: ChatUser,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<WrappedKey> {
  const { key } = ringOf(settings)[0]!;
  const chatKeyId = presentChatKeyId(settings);
  return {
    chatKey: toBase64(await seal(await key, keyContext(user, chatKeyId), bytes)),
    chatKeyId,
  };
}

async function unwrapBy<Key>(
  open: (key: CryptoKey, context: string, sealed: ArrayBuffer) => Promise<Key>,
  settings: Settings,
  user: ChatUser,
  { chatKey, chatKeyId }: WrappedKey,
): Promise<Key> {
  const name = chatKeyName(chatKeyId);
  const wrapping = ringOf(settings).find(({ keyId }) => keyId === name);
  if (!wrapping) throw new UnusableChatKey(`CHAT_KEYS has no key ${name}`);
  try {
    return await open(await wrapping.key, keyContext(user, chatKeyId), fromBase64(chatKey));
  } catch {
    throw new UnusableChatKey(`key ${chatKeyId} of CHAT_KEYS does not open this conversation`);
  }
}

const ringOf = memoize((settings: Settings): WrappingKey[] =>
  settings
    .require('CHAT_KEYS')
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [keyId = '', secret = ''] = entry.split(':');
      return { keyId, key: deriveWrappingKey(secret) };
    }),
);

async function deriveWrappingKey(secret: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
  ]);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode('solace/chat-kek/v1'),
  };
  return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
    'unwrapKey',
  ]);
}

/** Nobody can exchange two people's keys. */
function keyContext({ id, phone }: ChatUser, chatKeyId: string): string {
  return chatKeyId.endsWith(boundMark) ? `dek|v2|${id}|${phone}` : `dek|v1|${id}`;
}

/** Null without consent; 503 without its secret. */
export async function chatKeyOf(settings: Settings, row: ChatRow): Promise<CryptoKey | null> {
  const { chatKey, chatKeyId } = row;
  if (!chatKey || !chatKeyId) return null;
  return orUnavailable(chatKeyId, () =>
    unwrapBy(unsealKey, settings, row, {
      chatKey,
      chatKeyId,
    }),
  );
}

async function orUnavailable<T>(keyId: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof UnusableChatKey)) throw error;
    log('error', 'chat_key_unusable', { keyId });
    throw new RequestError('unavailable', { retryAfter: 60 });
  }
}

export async function keyOfEpoch(
  settings: Settings,
  row: ChatRow,
  readAgain: () => Promise<ChatRow | null>,
): Promise<KeyOfEpoch> {
  let { chatEpoch } = row;
  let key = await chatKeyOf(settings, row);

  return async function keyOf(epoch) {
    if (epoch < chatEpoch) return null;
    if (epoch > chatEpoch || !key) {
      const fresh = await readAgain();
      if (!fresh) return null;
      chatEpoch = fresh.chatEpoch;
      key = await chatKeyOf(settings, fresh);
    }
    return epoch === chatEpoch ? key : null;
  };
}
