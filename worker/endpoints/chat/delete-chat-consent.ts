import { clearConversation, confirmCleared } from '../../chat/clear-conversation.ts';
import { messageEvents } from '../../chat/message-events.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import type { Handler } from '../../http/handler.ts';

export const deleteChatConsent: Handler<'deleteChatConsent'> = async ({ session, ...context }) => {
  const { db, env, settings, now, waitUntil } = context;
  const statements = clearConversation(session.userId, null, settings, now).map((statement) => db.run(statement));
  return session.run(statements, (user) => {
    if (user.chatKey) {
      waitUntil(confirmCleared(env, db, user.id, user.chatEpoch + 1));
      waitUntil(deliverSoon(db, settings, user.phone, messageEvents(context)));
    }
    return { success: true, consent: null };
  });
};
