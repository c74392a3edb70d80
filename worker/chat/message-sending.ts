import type { User } from '#db/schema';
import { deliverLeased, deliverSoon } from '../bot/deliver-outbox.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { isInCrisis } from './crisis.ts';
import { messageEvents } from './message-delivery.ts';
import { takeAttempt, unqueue, type QueuedEvent } from './message-event.ts';
import { queueMessage, type QueueDecision, type Queueing } from './message-queue.ts';
import { messageRefusal } from './message-refusal.ts';
import {
  appendMessage,
  findOrRefuse,
  type SendScope,
  type Sent,
  type AppendResult,
} from './message-storing.ts';

type Queued = { decision: QueueDecision; event: QueuedEvent | undefined };

/**
 * Sends a message in three steps. Each may be the last one, if the Worker is killed:
 *
 * 1. Its event is queued, in the transaction of the session check, or the message is refused
 *    (`message-queue.ts`). An event without its message is dropped by whoever delivers it.
 * 2. The live object stores message and recording, once for its id. It refuses with 429 (messages
 *    a minute; recorded bytes a day in a crisis) or 503 (older epoch, over 8 s late). Before, a
 *    key that cannot be used is 503, also instead of a refusal; after, another content under the
 *    id is 409. Then the event is removed, or parked again (`unqueue`), unless another request of
 *    the message relies on it. If the object does not respond, the call is 500, and the event
 *    stays: the message may be stored, and the same call again finds it or stores it.
 * 3. After the response the event is delivered, by this request or by the cron job, in the order of
 *    the conversation, not of the queue. The bot counts the message (`bot/count-usage.ts`).
 *
 * A message of this id is already stored:
 *
 * | its state    | the queue refuses | the queue takes it again                                   |
 * | ------------ | ----------------- | ---------------------------------------------------------- |
 * | `sent`       | returned          | returned; delivered once (`takeAttempt`)                   |
 * | `delivered`  | returned          | returned; the new event is removed                         |
 * | `failed`     | refused           | `sent`; still `failed` if another request holds its event, |
 * |              |                   | or 8 s have passed                                         |
 * | another text | 409               | 409                                                        |
 *
 * Of parallel requests of one message one stores it, and all return it. Beside `outbox`, a key
 * that an older secret wraps is wrapped anew (`users.chat_key`, `chat_key_id`), and after the
 * response an older epoch begins anew (`restartEpoch`: `users.chat_epoch`, with a new key).
 */
export async function sendQueued(
  scope: SendScope,
  user: User,
  sent: Sent,
  { queueing, queued }: { queueing: Queueing; queued: Queued },
): Promise<ChatMessage> {
  const { decision, event, inCrisis } = await queuedInCrisis(scope, user, queueing, queued);
  if (decision.outcome !== 'queued')
    return findOrRefuse(scope, user, sent, messageRefusal(decision.outcome, user, scope.now));

  const { ownsEvent } = decision;
  const stored = await appendMessage(scope, user, sent, {
    inCrisis,
    ownsEvent,
  }).catch(async (error: unknown) => {
    // With any other error the message may be stored.
    if (ownsEvent && error instanceof RequestError) await unqueue(scope.db, event!, decision);
    throw error;
  });

  scope.waitUntil(deliver(scope, user, stored, { event: event!, ownsEvent }));
  return stored.message;
}

/** In the 24 hours of a crisis the message is queued by a second call of the same rule. */
async function queuedInCrisis(
  scope: SendScope,
  user: User,
  queueing: Queueing,
  queued: Queued,
): Promise<Queued & { inCrisis: boolean }> {
  const { outcome } = queued.decision;
  const mayPass = outcome === 'allowanceSpent' || outcome === 'rateLimited';
  if (!mayPass || !(await isInCrisis(scope, user)))
    return {
      ...queued,
      inCrisis: false,
    };

  const [decide, insert] = queueMessage(queueing, true);
  const [[decision], [event]] = await scope.db.batch([decide, insert]);
  // Its sender's session has ended since the first call.
  if (!decision) throw new RequestError('unauthenticated');
  return { decision, event, inCrisis: true };
}

/** Delivers the leased event, or the oldest one of the user. */
async function deliver(
  scope: SendScope,
  user: User,
  { isNew, ...stored }: AppendResult,
  { event, ownsEvent }: { event: QueuedEvent; ownsEvent: boolean },
): Promise<void> {
  const { db, settings } = scope;
  const isOurs = await mayDeliver(db, event, { isNew, ownsEvent });
  if (isOurs && event.leasedUntil > 0) {
    const messages = messageEvents(scope, { event, row: user, ...stored });
    await deliverLeased({ db, settings, messages }, event);
  } else if (stored.message.state === 'sent')
    await deliverSoon(db, settings, user.id, messageEvents(scope));
}

/**
 * If one request has queued the event and another has stored the
 * message, whoever first takes the attempt delivers it.
 */
async function mayDeliver(
  db: Database,
  event: QueuedEvent,
  { isNew, ownsEvent }: { isNew: boolean; ownsEvent: boolean },
): Promise<boolean> {
  if (isNew && ownsEvent) return true;
  // Others have queued the event and stored the message.
  if (!isNew && !ownsEvent) return false;
  return takeAttempt(db, event);
}
