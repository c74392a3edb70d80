import { sql, type SQL } from 'drizzle-orm';
import { RequestError } from '../lib/request-error.ts';
import type { Value } from '../lib/prepared-statements.ts';
import type { ChatRow } from './open-conversation.ts';

/** SQL for the one row of `ChatRow` of a number. */
export function chatUserSql(phone: Value<string>): SQL {
  return sql`select id, chat_key as chatKey, chat_key_id as chatKeyId, chat_epoch as chatEpoch
    from users where phone = ${phone}`;
}

/** The user to whom the bot may write; throws 404 for an unknown number, 409 without consent. */
export function requireConversation(user: ChatRow | undefined): ChatRow {
  if (!user) throw new RequestError('notFound', { message: 'Nobody with this number is known' });
  if (!user.chatKey) throw new RequestError('conflict', { message: 'This user has not consented to the chat.' });
  return user;
}
