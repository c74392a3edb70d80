import { deliverLeased, deliverSoon } from '../../bot/deliver-outbox.ts';
import { refusalOf } from '../../chat/refusal-of.ts';
import { messageEvents } from '../../chat/message-events.ts';
import { countWaiting, queueMessage, type QueuedPointer, type Waiting } from '../../chat/queue-message.ts';
import { findMessage, storeMessage } from '../../chat/store-message.ts';
import { connectionCountry } from '../../http/connection-country.ts';
import type { Handler } from '../../http/handler.ts';
import { RequestError } from '../../lib/request-error.ts';

/**
 * Queues the bot's event first and stores the message second: an event without its message is dropped, while a
 * message without an event would never be sent.
 */
export const sendMessage: Handler<'sendMessage'> = async ({ session, input, request, ...context }) => {
  const { db, settings, now, waitUntil } = context;
  if (!settings.BOT_WEBHOOK_URL) throw new RequestError('unavailable', { retryAfter: 3600 });
  const { userId, claimedUserId } = session;
  const pointer = {
    userId,
    claimedUserId,
    messageId: input.id,
    locale: localeOf(request),
    country: connectionCountry(request),
    mostWaiting: settings.CHAT_MESSAGES_WAITING,
    now,
  };
  const count = db.all<Waiting>(countWaiting(claimedUserId, input.id));
  const queue = db.all<QueuedPointer>(queueMessage(pointer));

  return session.run([count, queue], async (user, [waiting], [queued]) => {
    const refusal = refusalOf(user, waiting!.others, settings, now);
    if (refusal) return { success: true, message: await findMessage(context, user, input, refusal) };
    const own = waiting!.same ? null : queued!;
    const stored = await storeMessage(context, user, input, own);
    const { message } = stored;
    if (own && own.leasedUntil > 0) {
      const messages = messageEvents(context, { event: own, row: user, ...stored });
      waitUntil(deliverLeased({ db, settings, messages }, own));
    } else if (message.state === 'sent') waitUntil(deliverSoon(db, settings, user.phone, messageEvents(context)));
    return { success: true, message };
  });
};

/** The browser's preferred language, without its region. */
function localeOf(request: Request): string | null {
  return /^\s*([a-z]{2,3})\b/i.exec(request.headers.get('accept-language') ?? '')?.[1]?.toLowerCase() ?? null;
}
