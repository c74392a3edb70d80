import { and, count, eq, exists, gte, isNotNull, isNull, ne, not, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { outbox, users, type User } from '#db/schema';
import { leaseMs } from '../bot/outbox-statements.ts';
import { eventColumns } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import type { Database } from '../lib/database.ts';
import { fixed, greatest, iif, isTrue, plus } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded } from '../lib/sql.ts';
import { outcomeSql } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import {
  entitledTier,
  entitledTierSql,
  fitsAllowanceSql,
  voiceSql,
  weeklyAllowance,
} from '../usage/allowance.ts';
import { currentCount, nextWeek, usedSql } from '../usage/week.ts';
import { eventId, type EventBefore } from './message-event.ts';

/**
 * Queues a message for the bot. Only one row is written, its event in the outbox, so the
 * decision needs no row of its own: each statement computes it in a common table expression.
 *
 * | what the database holds            | outcome          | what is written                 |
 * | ---------------------------------- | ---------------- | ------------------------------- |
 * | no consent                         | `consentNeeded`  | nothing                         |
 * | a recording, and no plan for it    | `voiceNotInPlan` | nothing                         |
 * | a week that is used up             | `allowanceSpent` | nothing                         |
 * | `mostWaiting` other messages       | `rateLimited`    | nothing                         |
 * | no event of this message           | `queued`         | its event                       |
 * | its event, parked after a refusal  | `queued`         | the event is due again          |
 * | its event, waiting                 | `queued`         | `created_at` of the event alone |
 *
 * The last row is a repeated or parallel request: whoever was first has inserted the event,
 * and can no longer take it back (`unqueue`), since this request relies on it.
 */
export type QueueOutcome =
  | 'consentNeeded'
  | 'voiceNotInPlan'
  | 'allowanceSpent'
  | 'rateLimited'
  | 'queued';

/**
 * A message to send; `from` is SQL for the id of
 * the user whose session may send it, or null.
 */
export type Queueing = {
  from: SQL;
  userId: string;
  messageId: string;
  kind: 'text' | 'voice';
  locale: Language;
  country: string | null;
  now: number;
  mostWaiting: number;
};

export type QueueDecision = EventBefore & { outcome: QueueOutcome };

const own = alias(outbox, 'own');
const waiting = alias(outbox, 'waiting');

/**
 * The statements of one transaction: the decision, and its effect. In the 24 hours
 * of a crisis no spent allowance refuses a message, and no waiting one a text.
 */
export function queueMessage(db: Database, message: Queueing, inCrisis = false) {
  const decision = decide(db, message, inCrisis);
  return [readDecision(db, message, decision), insertEvent(db, message, decision)] as const;
}

type Decision = ReturnType<typeof decide>;

/** The order is that in which a person should learn of the reasons. */
function decide(db: Database, message: Queueing, inCrisis: boolean) {
  const sender = senderOf(db, message);
  const isSpoken = message.kind === 'voice';
  const isFull = gte(sender.others, message.mostWaiting);
  const outcome = outcomeSql<QueueOutcome>(
    {
      consentNeeded: isNull(sender.chatKey),
      voiceNotInPlan: isSpoken ? not(voiceSql(sender.tier)) : undefined,
      allowanceSpent: inCrisis
        ? undefined
        : not(fitsAllowanceSql(plus(sender.used, 1), sender.tier)),
      rateLimited: inCrisis && !isSpoken ? undefined : isFull,
    },
    'queued',
  );

  const { id, phone, hasWaiting } = sender;
  const decided = db
    .with(sender)
    .select({
      id,
      phone,
      hasWaiting,
      outcome: outcome.as('outcome'),
    })
    .from(sender);
  return db.$with('decision').as(decided);
}

/** The facts: one row, or none if the session may not send. */
function senderOf(db: Database, { from, messageId, now }: Queueing) {
  const isTheirs = and(eq(waiting.userId, users.id), isNull(waiting.parkedAt));
  const any = db.select({ seq: waiting.seq }).from(waiting).where(isTheirs);
  const others = db
    .select({ count: count() })
    .from(waiting)
    .where(and(isTheirs, ne(waiting.messageId, messageId)));

  const facts = db
    .select({
      id: users.id,
      phone: users.phone,
      chatKey: users.chatKey,
      tier: entitledTierSql(now).as('tier_now'),
      used: usedSql(now).as('used_now'),
      others: sql<number>`${others}`.as('others'),
      hasWaiting: isTrue(exists(any)).as('has_waiting'),
    })
    .from(users)
    .where(eq(users.id, from));
  return db.$with('sender').as(facts);
}

function readDecision(db: Database, { userId, messageId }: Queueing, decision: Decision) {
  const ownsEvent = isTrue(or(isNull(own.id), isNotNull(own.parkedAt)));
  return db
    .with(decision)
    .select({
      outcome: decision.outcome,
      ownsEvent: ownsEvent.mapWith(Boolean),
      parkedSince: own.parkedAt,
      parkedAttempts: own.attempts,
      parkedCreatedAt: own.createdAt,
    })
    .from(decision)
    .leftJoin(own, eq(own.id, eventId(userId, messageId)));
}

/** This request delivers the event if none of the user precedes it. */
function insertEvent(db: Database, message: Queueing, decision: Decision) {
  const { userId, messageId, now } = message;
  const event = db
    .select({
      seq: fixed(null).as('seq'),
      id: fixed(eventId(userId, messageId)).as('id'),
      userId: decision.id,
      phone: decision.phone,
      body: fixed(bodyOf(message)).as('body'),
      messageId: fixed(messageId).as('message_id'),
      createdAt: fixed(now).as('created_at'),
      // The request that queues it makes its first attempt.
      attempts: fixed(1).as('attempts'),
      dueAt: fixed(now).as('due_at'),
      leasedUntil: iif<number>(decision.hasWaiting, 0, now + leaseMs).as('leased_until'),
      parkedAt: fixed(null).as('parked_at'),
    })
    .from(decision)
    .where(eq(decision.outcome, 'queued'));

  const isParked = isNotNull(outbox.parkedAt);
  return db
    .with(decision)
    .insert(outbox)
    .select(event as never)
    .onConflictDoUpdate({
      target: outbox.id,
      set: {
        // Each request changes it, also two of one millisecond: `unqueue` tells them apart by it.
        createdAt: greatest(plus(outbox.createdAt, 1), now),
        parkedAt: null,
        attempts: iif(isParked, 1, outbox.attempts),
        dueAt: iif(isParked, now, outbox.dueAt),
        leasedUntil: iif(isParked, excluded(outbox.leasedUntil), outbox.leasedUntil),
      },
    })
    .returning({ ...eventColumns(), leasedUntil: outbox.leasedUntil });
}

/** What is stored of the event; the text is read from the conversation when it is sent. */
function bodyOf({ messageId, locale, country, now }: Queueing): string {
  const timestamp = new Date(now).toISOString();
  return JSON.stringify({
    type: 'chat.message',
    timestamp,
    data: { messageId, locale, country },
  });
}

const waitSeconds = 5;

/** The error of a message that was not queued. */
export function refusalOf(
  outcome: Exclude<QueueOutcome, 'queued'>,
  user: User,
  now: number,
): RequestError {
  switch (outcome) {
    case 'consentNeeded':
    case 'voiceNotInPlan':
      return new RequestError(outcome);
    case 'allowanceSpent':
      return new RequestError('allowanceSpent', { fields: spentOf(user, now) });
    case 'rateLimited':
      return new RequestError('rateLimited', { retryAfter: waitSeconds });
  }
}

function spentOf(user: User, now: number) {
  const { used } = currentCount(user, now);
  const limit = weeklyAllowance(entitledTier(user, now));
  const resetsAt = new Date(nextWeek(user, now)).toISOString();
  return { used, limit, resetsAt };
}
