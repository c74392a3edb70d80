import type { ChatMessage, Voice } from '../contract/chat-schemas.ts';
import { seal, unseal } from '../lib/crypto.ts';
import type { PlacedMessage, StoredMessage } from '../live/stored-message.ts';
import type { Settings } from '../settings.ts';
import { chatKeyOf, type ChatRow, encoder } from './chat-keys.ts';
import type { MessageRef } from './message-ids.ts';

export type MessageContent = {
  id?: string;
  text: string;
  replyTo?: string | undefined;
  crisis?: boolean;
  voice?: Voice | undefined;
  /** Whether the referral of a crisis reply was counted. */
  counted?: boolean;
};

const decoder = new TextDecoder();

/** Its length says nothing of a crisis: both marks are digits. */
export function sealMessage(
  key: CryptoKey,
  ref: MessageRef,
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
  return seal(key, messageContext(ref), encoder.encode(JSON.stringify(content)));
}

/** Throws if the key is of another conversation. */
export async function openMessage(
  key: CryptoKey,
  userId: string,
  stored: StoredMessage,
): Promise<ChatMessage> {
  return toChatMessage(stored, await openContent(key, userId, stored));
}

export async function openContent(
  key: CryptoKey,
  userId: string,
  stored: StoredMessage,
): Promise<MessageContent> {
  const plain = await unseal(
    key,
    messageContext({
      userId,
      ...stored,
    }),
    stored.sealed,
  );
  const { crisis, counted, ...content } = JSON.parse(decoder.decode(plain));
  return {
    ...content,
    crisis: crisis === 1,
    counted: counted === 1,
  };
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

/** The id alone may contain the separator. */
function messageContext({ userId, id, author }: MessageRef): string {
  return `msg|v1|${userId}|${id}|${author}`;
}
