import { fromBase64, toBase64, seal, unseal, unsealKey } from '../lib/crypto.ts';
import { memoize } from '../lib/memoize.ts';
import { boundMark, chatKeyName } from '../lib/secrets.ts';
import type { Settings } from '../settings.ts';
import type { ChatMessage, MessageAuthor, Voice } from '../contract/chat-schemas.ts';
import type { PlacedMessage, StoredMessage } from '../live/stored-message.ts';
import { and, eq, gt, lt, type SQL } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/sqlite-core';
import { users, type PhoneNumber } from '#db/schema';
import { build } from '../lib/sql.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';

/**
 * `chatKeyId` names the key of `CHAT_KEYS`; with `boundMark`
 * it is bound to id and number, else to the id alone.
 */
export type WrappedKey = { chatKey: string; chatKeyId: string };

export type Owner = { id: string; phone: PhoneNumber };

export type ChatRow = Owner & {
  chatKey: string | null;
  chatKeyId: string | null;
  chatEpoch: number;
};

/**
 * The key of an epoch; null when the conversation
 * has no key, or is in another epoch.
 */
export type KeyOfEpoch = (epoch: number) => Promise<CryptoKey | null>;

type WrappingKey = { keyId: string; key: Promise<CryptoKey> };

const encoder = new TextEncoder();
const keyBytes = 32;

/**
 * No key of `CHAT_KEYS` opens this conversation: its
 * secret was removed too early, or the row was changed.
 */
class UnusableChatKey extends Error {}

export function newChatKey(settings: Settings, owner: Owner): Promise<WrappedKey> {
  return wrap(settings, owner, crypto.getRandomValues(new Uint8Array(keyBytes)));
}

/**
 * The key of a conversation, bound to the number that its
 * user will have; 503 when `CHAT_KEYS` does not open it.
 */
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

async function rewrapChatKey(
  settings: Settings,
  owner: Owner,
  wrapped: WrappedKey,
): Promise<WrappedKey> {
  return wrap(settings, owner, new Uint8Array(await unwrapBy(unseal, settings, owner, wrapped)));
}

function presentChatKeyId(settings: Settings): string {
  return `${ringOf(settings)[0]!.keyId}${boundMark}`;
}

async function wrap(
  settings: Settings,
  owner: Owner,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<WrappedKey> {
  const { key } = ringOf(settings)[0]!;
  const chatKeyId = presentChatKeyId(settings);
  return {
    chatKey: toBase64(await seal(await key, keyContext(owner, chatKeyId), bytes)),
    chatKeyId,
  };
}

async function unwrapBy<Key>(
  open: (key: CryptoKey, context: string, sealed: ArrayBuffer) => Promise<Key>,
  settings: Settings,
  owner: Owner,
  { chatKey, chatKeyId }: WrappedKey,
): Promise<Key> {
  const name = chatKeyName(chatKeyId);
  const wrapping = ringOf(settings).find(({ keyId }) => keyId === name);
  if (!wrapping) throw new UnusableChatKey(`CHAT_KEYS has no key ${name}`);
  try {
    return await open(await wrapping.key, keyContext(owner, chatKeyId), fromBase64(chatKey));
  } catch {
    throw new UnusableChatKey(`key ${chatKeyId} of CHAT_KEYS does not open this conversation`);
  }
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

/**
 * Bound to the number, the keys of two people cannot
 * be exchanged by whoever may write to the database.
 */
function keyContext({ id, phone }: Owner, chatKeyId: string): string {
  return chatKeyId.endsWith(boundMark) ? `dek|v2|${id}|${phone}` : `dek|v1|${id}`;
}

/**
 * The key of a conversation, or null without
 * consent; 503 when `CHAT_KEYS` no longer opens it.
 */
export async function chatKeyOf(settings: Settings, row: ChatRow): Promise<CryptoKey | null> {
  const { chatKey, chatKeyId } = row;
  if (!chatKey || !chatKeyId) return null;
  return orUnavailable(chatKeyId, () => unwrapBy(unsealKey, settings, row, { chatKey, chatKeyId }));
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

/**
 * The keys for an open stream: reads the user's row
 * again after the conversation has changed its key.
 */
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

export type MessageContent = {
  /**
   * The bot's id of a reply, which is stored
   * under a keyed hash of it (message-ids.ts).
   */
  id?: string;
  text: string;
  replyTo?: string | undefined;
  crisis?: boolean;
  voice?: Voice | undefined;
  /** Whether the referral of a crisis reply was counted. */
  counted?: boolean;
};
type Place = { userId: string; id: string; author: MessageAuthor };

const decoder = new TextDecoder();

/**
 * The ciphertext of the content, bound to this conversation, epoch
 * and id. Its length says nothing of a crisis: both marks are digits.
 */
export function sealMessage(
  key: CryptoKey,
  place: Place,
  { id, text, replyTo, crisis, voice, counted }: MessageContent,
) {
  const content = {
    ...(id !== undefined && { id }),
    text,
    ...(replyTo !== undefined && { replyTo }),
    crisis: Number(crisis ?? false),
    ...(voice && { voice }),
    counted: Number(counted ?? false),
  };
  return seal(key, messageContext(place), encoder.encode(JSON.stringify(content)));
}

/**
 * Decrypts a stored message; throws if the key belongs to another conversation.
 */
export async function openMessage(
  key: CryptoKey,
  userId: string,
  stored: StoredMessage,
): Promise<ChatMessage> {
  return toChatMessage(stored, await openContent(key, userId, stored));
}

/** As `openMessage`, with what the contract does not show. */
export async function openContent(
  key: CryptoKey,
  userId: string,
  stored: StoredMessage,
): Promise<MessageContent> {
  const plain = await unseal(key, messageContext({ userId, ...stored }), stored.sealed);
  const { crisis, counted, ...content } = JSON.parse(decoder.decode(plain));
  return { ...content, crisis: crisis === 1, counted: counted === 1 };
}

export function toChatMessage(
  { id: storedId, seq, author, at, state }: PlacedMessage,
  { id = storedId, text, replyTo, crisis, voice }: MessageContent,
): ChatMessage {
  return {
    id,
    seq,
    author,
    text,
    at: new Date(at).toISOString(),
    state,
    ...(replyTo !== undefined && { replyTo }),
    ...(crisis && { crisis }),
    ...(voice && { voice }),
  };
}

export async function sealPartialReply(
  settings: Settings,
  row: ChatRow,
  text: string,
): Promise<ArrayBuffer | null> {
  const key = await chatKeyOf(settings, row);
  return key && seal(key, partialContext(row.id), encoder.encode(text));
}

export async function openPartialReply(
  key: CryptoKey,
  userId: string,
  sealed: ArrayBuffer,
): Promise<string> {
  return decoder.decode(await unseal(key, partialContext(userId), sealed));
}

function partialContext(userId: string): string {
  return `part|v1|${userId}`;
}

/** The id may contain the separator; the other parts may not. */
function messageContext({ userId, id, author }: Place): string {
  return `msg|v1|${userId}|${id}|${author}`;
}

type Row = WrappedKey & Owner;

const rowsPerStep = 500;
/**
 * Keys for each hourly run: a quarter of a million a
 * day. Keys of users who write are rewrapped on use.
 */
const stepsPerRun = 20;

export async function rewrapChatKeys(db: Database, settings: Settings): Promise<void> {
  let unusable = 0;
  for (let step = 0; step < stepsPerRun; step += 1) {
    const rows = (await wrappedByOthers(db, presentChatKeyId(settings), unusable)) as Row[];
    const statements = (await Promise.all(rows.map((row) => rewrap(settings, row)))).filter(
      (each) => each !== null,
    );
    const [first, ...rest] = statements.map((statement) => db.run(statement));
    if (first) await db.batch([first, ...rest]);
    if (rows.length > 0) log('info', 'chat_keys_rewrapped', { keys: statements.length });
    unusable += rows.length - statements.length;
    if (rows.length < rowsPerStep) break;
  }
  if (unusable > 0) log('error', 'chat_key_unusable', { conversations: unusable });
}

/**
 * SQL that rewraps a key unless its row has changed; null if
 * the first of `CHAT_KEYS` wraps it for its number already.
 */
export async function rewrapOnUse(settings: Settings, row: Row): Promise<SQL | null> {
  return row.chatKeyId === presentChatKeyId(settings) ? null : rewrap(settings, row);
}

/** Two ranges of the index, which `<>` would not use. */
function wrappedByOthers(db: Database, first: string, skipped: number) {
  const { id, phone, chatKey, chatKeyId } = users;
  const keys = (where: SQL) =>
    db.select({ id, phone, chatKey, chatKeyId }).from(users).where(where);
  return unionAll(keys(lt(chatKeyId, first)), keys(gt(chatKeyId, first)))
    .limit(rowsPerStep)
    .offset(skipped);
}

async function rewrap(settings: Settings, row: Row): Promise<SQL | null> {
  try {
    const { chatKey, chatKeyId } = await rewrapChatKey(settings, row, row);
    const { id, phone } = row;
    const isUnchanged = and(
      eq(users.id, id),
      eq(users.phone, phone),
      eq(users.chatKey, row.chatKey),
    );
    return build.update(users).set({ chatKey, chatKeyId }).where(isUnchanged).getSQL();
  } catch (error) {
    if (error instanceof UnusableChatKey) return null;
    throw error;
  }
}
