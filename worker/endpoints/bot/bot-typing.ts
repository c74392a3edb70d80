import { sql } from 'drizzle-orm';
import { applyOnceThen, idempotentStatements } from '../../bot/idempotent-call.ts';
import { chatUserSql, requireConversation } from '../../chat/chat-user.ts';
import { conversationOf, type ChatRow } from '../../chat/open-conversation.ts';
import type { Handler } from '../../http/handler.ts';

const until = sql.placeholder('until');
const typingFacts = sql`select json_object('userId', id, 'until', ${until}) as answer
  from users where phone = ${phone} and chat_key is not null`;
const typingStatements = idempotentStatements(typingFacts, [chatUserSql(phone)]);

export const botTyping: Handler<'botTyping'> = async (context) => {
  const { input, env, now } = context;
  const values = { phone: input.phone, until: now + 1000 * input.seconds };
  const [first, user] = await applyOnceThen<{ until: number }, ChatRow>(context, typingStatements, values);
  const { id, chatEpoch } = requireConversation(user);
  await conversationOf(env, id).type(chatEpoch, first!.until);
  return { success: true };
};
