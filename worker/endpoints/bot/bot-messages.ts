import { sql } from 'drizzle-orm';
import { comparedBy } from '../../bot/bot-call.ts';
import { applyOnceThen, idempotentStatements, isFirstCall } from '../../bot/idempotent-call.ts';
import { chatUserSql, requireConversation } from '../../chat/chat-user.ts';
import { storeReply } from '../../chat/store-reply.ts';
import type { ChatRow } from '../../chat/open-conversation.ts';
import type { Handler } from '../../http/handler.ts';
import { dayMs } from '../../lib/time.ts';

const crisisMs = dayMs;
const [phone, crisisUntil] = [sql.placeholder('phone'), sql.placeholder('crisisUntil')];
const replyFacts = sql`select json_object('userId', id) as answer from users where phone = ${phone} and chat_key is not null`;
const replyStatements = idempotentStatements(replyFacts, [
  sql`update users set crisis_until = ${crisisUntil} where phone = ${phone} and ${crisisUntil} > 0 and ${isFirstCall}`,
  chatUserSql(phone),
]);

/** The Durable Object stores a reply once per id, so a replay stores nothing and returns the same `seq`. */
export const botMessages: Handler<'botMessages'> = async (context) => {
  const { input, now } = context;
  const { id, replyTo, crisis } = input;
  const botCall = await comparedBy(context.botCall, { path: 'messages', phone: input.phone, id, replyTo, crisis });
  const values = { phone: input.phone, crisisUntil: crisis ? now + crisisMs : 0 };
  const [, user] = await applyOnceThen<unknown, ChatRow>({ ...context, botCall }, replyStatements, values);
  return { success: true, seq: await storeReply(context, requireConversation(user), input) };
};
