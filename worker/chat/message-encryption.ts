import type { ChatMessage, MessageAuthor } from '../contract/chat.ts';
import { seal, unseal } from '../platform/sealed-bytes.ts';
import type { StoredMessage } from './stored-message.ts';

/** The parts of a message that the Durable Object must not read. */
export type MessageContent = { text: string; replyTo?: string | undefined; crisis?: boolean };
type Place = { userId: string; id: string; author: MessageAuthor };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The content as ciphertext that opens at this place alone. */
export function sealMessage(key: CryptoKey, place: Place, { text, replyTo, crisis }: MessageContent) {
  const content = { text, ...(replyTo !== undefined && { replyTo }), ...(crisis && { crisis }) };
  return seal(key, contextOf(place), encoder.encode(JSON.stringify(content)));
}

/** The message that a stored one holds; throws when the key is not the one of its conversation. */
export async function openMessage(key: CryptoKey, userId: string, stored: StoredMessage): Promise<ChatMessage> {
  const { id, seq, author, at, state } = stored;
  const plain = await unseal(key, contextOf({ userId, id, author }), stored.sealed);
  const { text, replyTo, crisis } = JSON.parse(decoder.decode(plain)) as MessageContent;
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

/** The id may contain any separator, but stands between parts that may not. */
function contextOf({ userId, id, author }: Place): string {
  return `msg|v1|${userId}|${id}|${author}`;
}
