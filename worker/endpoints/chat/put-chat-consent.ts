import { sql } from 'drizzle-orm';
import { insertBotEvent } from '../../bot/outbox.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import { newChatKey } from '../../chat/chat-keys.ts';
import { consentOf } from '../../chat/consent.ts';
import { messageEvents } from '../../chat/message-events.ts';
import type { Handler } from '../../http/handler.ts';

/**
 * Repeating a version keeps the time of the first consent. For a user who never wrote on WhatsApp, this is the first
 * contact: weeks start there, and the bot's usage posts require it.
 */
export const putChatConsent: Handler<'putChatConsent'> = async ({ session, input, ...context }) => {
  const { db, settings, now, waitUntil } = context;
  const { version } = input;
  const fresh = await newChatKey(settings, session.claimedUserId);
  const changing = sql`id = ${session.userId} and chat_consent_version is not ${version}`;
  const firstContact = sql`contacted_at is null and renewal_at is null`;
  const data = sql`'userId', id, 'version', ${version}`;
  const statements = [
    db.run(insertBotEvent(settings, 'chat.consent', now, sql`phone`, data, sql`from users where ${changing}`)),
    db.run(sql`update users set chat_consent_version = ${version}, chat_consent_at = ${now},
      chat_key_id = case when chat_key is null then ${fresh.chatKeyId} else chat_key_id end,
      chat_key = coalesce(chat_key, ${fresh.chatKey}),
      week_anchor = case when ${firstContact} then ${now} else week_anchor end,
      week_start = case when ${firstContact} then ${now} else week_start end,
      contacted_at = coalesce(contacted_at, ${now}) where ${changing}`),
  ];
  return session.run(statements, (before) => {
    const known = consentOf(before);
    if (known?.version === version) return { success: true, consent: known };
    waitUntil(deliverSoon(db, settings, before.phone, messageEvents(context)));
    return { success: true, consent: { version, at: new Date(now).toISOString() } };
  });
};
