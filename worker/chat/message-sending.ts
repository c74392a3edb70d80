import type { User } from '#db/schema';
import { deliverLeased, deliverSoon } from '../bot/deliver-outbox.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { isInCrisis } from './crisis.ts';
import { messageEvents } from './message-delivery.ts';
import { takeAttempt, unqueue, type QueuedEvent } from './message-event.ts';
import { queueMessage, refusalOf, type QueueDecision, type Queueing } from './message-queue.ts';
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
 * 1. Its event is queued (`queueMessage`, in the transaction of the session check). An event
 *    without its message is dropped by whoever delivers it.
 * 2. The live object stores the message, once for its id. If it refuses, the event is removed, or
 *    parked again (`unqueue`), unless another request of the message relies on it.
 * 3. After the response the event is delivered to the bot, by this request or by the cron job, in
 *    the order of the conversation, not of the queue. The bot counts it (`bot/count-usage.ts`).
 *
 * A message that the queue refuses, but an earlier request has stored, is returned as it is now, or
 * refused if it has failed. One that is queued again: delivered, it stays so, and its event is
 * dropped; failed, it becomes `sent`, or stays `failed` in the response while another request holds
 * its event. Of parallel requests that are queued, one stores the message, and all return it;
 * another text under its id is 409.
 */
export async function sendQueued(
  scope: SendScope,
  user: User,
  sent: Sent,
  { queueing, queued }: { queueing: Queueing; queued: Queued },
): Promise<ChatMessage> {
  const { decision, event, inCrisis } = await queuedInCrisis(scope, user, queueing, queued);
  if (decision.outcome !== 'queued')
    return findOrRefuse(scope, user, sent, refusalOf(decision.outcome, user, scope.now));

  const { ownsEvent } = decision;
  const stored = await appendMessage(scope, user, sent, { inCrisis, ownsEvent }).catch(
    async (error: unknown) => {
      // With any other error the message may be stored.
      if (ownsEvent && error instanceof RequestError) await unqueue(scope.db, event!, decision);
      throw error;
    },
  );

  scope.waitUntil(deliver(scope, user, stored, { event: event!, ownsEvent }));
  return stored.message;
}

/**
 * In the 24 hours of a crisis neither a spent allowance nor, for a text, waiting
 * messages refuse it: it is queued by a second call of the same rule.
 */
async function queuedInCrisis(
  scope: SendScope,
  user: User,
  queueing: Queueing,
  queued: Queued,
): Promise<Queued & { inCrisis: boolean }> {
  const { outcome } = queued.decision;
  const mayPass = outcome === 'allowanceSpent' || outcome === 'rateLimited';
  if (!mayPass || !(await isInCrisis(scope, user))) return { ...queued, inCrisis: false };

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
