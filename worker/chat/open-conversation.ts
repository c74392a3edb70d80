import { sql } from 'drizzle-orm';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { newChatKey, openChatKey, UnusableChatKey } from './chat-keys.ts';
import type { StaleEpoch } from './stored-message.ts';

/** The columns of the user's row about the conversation. */
export type ChatRow = { id: string; chatKey: string | null; chatKeyId: string | null; chatEpoch: number };
export type ChatContext = { db: Database; env: Env; settings: Settings; waitUntil: (work: Promise<unknown>) => void };

/** The Durable Object of a user's conversation. */
export function conversationOf(env: Env, userId: string) {
  return env.CONVERSATION.getByName(userId);
}

/** The key of a conversation, or null without consent; 503 when `CHAT_KEYS` no longer opens it. */
export async function chatKeyOf(settings: Settings, row: ChatRow): Promise<CryptoKey | null> {
  const { chatKey, chatKeyId } = row;
  if (!chatKey || !chatKeyId) return null;
  try {
    return await openChatKey(settings, row.id, { chatKey, chatKeyId });
  } catch (error) {
    if (!(error instanceof UnusableChatKey)) throw error;
    log('error', 'chat_key_unusable', { keyId: chatKeyId });
    throw new RequestError('unavailable', { retryAfter: 60 });
  }
}

/**
 * The 503 after the conversation was cleared since the row was read. If the row keeps its older epoch, the database was
 * restored from a backup: the conversation is then emptied, because the key of its messages is lost.
 */
export function staleEpochError(
  { db, settings, waitUntil }: ChatContext,
  row: ChatRow,
  { epoch }: StaleEpoch,
): RequestError {
  waitUntil(catchUp());
  return new RequestError('unavailable', { retryAfter: 1 });

  async function catchUp(): Promise<void> {
    const fresh = await newChatKey(settings, row.id);
    const { rowsAffected } = await db.run(sql`update users set chat_epoch = ${epoch + 1},
      chat_key = case when chat_key is null then null else ${fresh.chatKey} end,
      chat_key_id = case when chat_key is null then null else ${fresh.chatKeyId} end
      where id = ${row.id} and chat_epoch < ${epoch}`);
    if (rowsAffected > 0) log('error', 'conversation_restarted', { epoch });
  }
}
