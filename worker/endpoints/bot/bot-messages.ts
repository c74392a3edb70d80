import { sql } from 'drizzle-orm';
import { idempotentStatements, isFirstCall } from '../../bot/bot-call.ts';
import { chatUserSql, requireConversation } from '../../chat/chat-user.ts';
import { storeReply } from '../../chat/store-reply.ts';
import type { ChatRow } from '../../chat/open-conversation.ts';
import type { Handler } from '../../http/handler.ts';
import { dayMs } from '../../platform/time.ts';

const crisisMs = dayMs;
const [phone, crisisUntil] = [sql.placeholder('phone'), sql.placeholder('crisisUntil')];
const facts = sql`select json_object('userId', id) as answer from users where phone = ${phone} and chat_key is not null`;
const statements = idempotentStatements(facts, [
  sql`update users set crisis_until = ${crisisUntil} where phone = ${phone} and ${crisisUntil} > 0 and ${isFirstCall}`,
  chatUserSql(phone),
]);

/** The Durable Object stores a reply once per id, so a replay stores nothing and returns the same `seq`. */
export const botMessages: Handler<'botMessages'> = async ({ input, botCall, ...context }) => {
  const { id, replyTo, crisis } = input;
  const call = await botCall.comparedBy({ path: 'messages', phone: input.phone, id, replyTo, crisis });
  const values = { phone: input.phone, crisisUntil: crisis ? context.now + crisisMs : 0 };
  const [, user] = await call.onceThen<unknown, ChatRow>(context.db, context.now, statements, values);
  return { success: true, seq: await storeReply(context, requireConversation(user), input) };
};
