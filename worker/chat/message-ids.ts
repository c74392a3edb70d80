import type { MessageAuthor } from '../contract/chat-schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Peppers } from '../lib/secrets.ts';

export type MessageRef = {
  userId: string;
  id: string;
  author: MessageAuthor;
};

/** `others`: under which a message of its own id may be stored. */
export type MessageNames = { id: string; others: string[] };

/**
 * The names of a message. The page makes the ids of its messages; the bot's
 * may contain a phone number, as WhatsApp's do, so a reply is stored under
 * a keyed hash of its id, which itself stands in the encrypted content.
 */
export async function idHashesOf(
  { CODE_PEPPER }: Peppers,
  userId: string,
  { id, author }: { id: string; author: MessageAuthor },
): Promise<MessageNames> {
  const [hash, ...earlier] = await keyedHashes(CODE_PEPPER, 'message-id', userId, id);
  if (author === 'user') return { id, others: [hash!, ...earlier] };
  return { id: hash!, others: [...earlier, id] };
}

export async function allNamesOf(settings: Peppers, userId: string, id: string): Promise<string[]> {
  const { others } = await idHashesOf(settings, userId, { id, author: 'user' });
  return [id, ...others];
}
