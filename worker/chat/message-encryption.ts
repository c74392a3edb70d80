import type { ChatMessage, MessageAuthor } from '../contract/chat.ts';
import { seal, unseal } from '../lib/sealed-bytes.ts';
import type { StoredMessage } from './stored-message.ts';

/** The parts of a message that the Durable Object stores encrypted. */
export type MessageContent = { text: string; replyTo?: string | undefined; crisis?: boolean };
type Place = { userId: string; id: string; author: MessageAuthor };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The ciphertext of the content, bound to this conversation, epoch and id. */
export function sealMessage(key: CryptoKey, place: Place, { text, replyTo, crisis }: MessageContent) {
  const content = { text, ...(replyTo !== undefined && { replyTo }), ...(crisis && { crisis }) };
  return seal(key, contextOf(place), encoder.encode(JSON.stringify(content)));
}

/** Decrypts a stored message; throws if the key belongs to another conversation. */
export async function openMessage(key: CryptoKey, userId: string, stored: StoredMessage): Promise<ChatMessage> {
  const plain = await unseal(key, contextOf({ userId, ...stored }), stored.sealed);
  return toChatMessage(stored, JSON.parse(decoder.decode(plain)));
}

/** A message of the contract. */
export function toChatMessage(
  { id, seq, author, at, state }: StoredMessage,
  { text, replyTo, crisis }: MessageContent,
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
  };
}

/** The id may contain the separator; the other parts may not. */
function contextOf({ userId, id, author }: Place): string {
  return `msg|v1|${userId}|${id}|${author}`;
}
