import { and, count, eq, isNull, lte, ne, sql, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { outbox, users, type User } from '#db/schema';
import { neverDue, newestSeq, leaseMs } from '../bot/outbox-statements.ts';
import { eventColumns, type OutboxEvent } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import {
  entitledTier,
  entitledTierSql,
  fitsLimitSql,
  voiceSql,
  weeklyLimit,
} from '../usage/allowance.ts';
import { currentCount, currentWeek, usedSql, weekMs } from '../usage/week.ts';

/**
 * Sending a message has one effect, its event in the outbox,
 * so its decision is a common table expression: the outcome
 * is computed from the sender's row, the event is queued if
 * it is `queued`, and both statements run in one transaction.
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

/**
 * The outcome, and what the outbox held of
 * this very message; instants in unix ms.
 */
export type QueueDecision = {
  outcome: QueueOutcome;
  /**
   * An earlier request has queued the same message, and its event still waits.
   */
  waitedAlready: boolean;
  parkedSince: number | null;
  parkedAttempts: number | null;
  parkedCreatedAt: number | null;
};

/** The event that this request has queued, or found. */
export type QueuedEvent = OutboxEvent & { leasedUntil: number };

const waitSeconds = 5;
const own = alias(outbox, 'own');
const waiting = alias(outbox, 'waiting');

function eventId(userId: string, messageId: string): string {
  return `chat_${userId}_${messageId}`;
}

/**
 * The statements of one transaction: the decision, and its
 * effect. In the 24 hours of a crisis no spent allowance refuses
 * a message, and texts are bounded by the limit a minute alone.
 */
export function queueMessage(db: Database, message: Queueing, inCrisis = false) {
  return [decide(db, message, inCrisis), enqueue(db, message, inCrisis)] as const;
}

function decide(db: Database, message: Queueing, inCrisis: boolean) {
  const decision = decisionOf(db, message, inCrisis);
  return db
    .with(decision)
    .select({
      outcome: decision.outcome,
      waitedAlready: sql<boolean>`${own.id} is not null and ${own.parkedAt} is null`.mapWith(
        Boolean,
      ),
      parkedSince: own.parkedAt,
      parkedAttempts: own.attempts,
      parkedCreatedAt: own.createdAt,
    })
    .from(decision)
    .leftJoin(own, eq(own.id, eventId(message.userId, message.messageId)));
}

/** Queues the event, and leases it if none of the user precedes it. */
function enqueue(db: Database, message: Queueing, inCrisis: boolean) {
  const { userId, messageId, now } = message;
  const decision = decisionOf(db, message, inCrisis);
  const leasedUntil = sql<number>`case when ${decision.hasWaiting} then 0 else ${now + leaseMs} end`;
  const event = db
    .select({
      seq: sql<number>`null`.as('seq'),
      id: sql<string>`${eventId(userId, messageId)}`.as('id'),
      userId: decision.id,
      phone: decision.phone,
      body: sql<string>`${bodyOf(message)}`.as('body'),
      messageId: sql<string>`${messageId}`.as('message_id'),
      createdAt: sql<number>`${now}`.as('created_at'),
      // The request that queues an event
      // delivers it, which is its first attempt.
      attempts: sql<number>`1`.as('attempts'),
      dueAt: sql<number>`${now}`.as('due_at'),
      leasedUntil: leasedUntil.as('leased_until'),
      parkedAt: sql<number>`null`.as('parked_at'),
    })
    .from(decision)
    .where(eq(decision.outcome, 'queued'));

  const ifParked = (then: SQL, otherwise: SQL) =>
    sql`case when ${outbox.parkedAt} is not null then ${then} else ${otherwise} end`;
  return db
    .with(decision)
    .insert(outbox)
    .select(event)
    .onConflictDoUpdate({
      target: outbox.id,
      set: {
        // The request that queued it first can then no
        // longer take it back: this one relies on it.
        createdAt: now,
        parkedAt: null,
        attempts: ifParked(sql`1`, sql`${outbox.attempts}`),
        dueAt: ifParked(sql`${now}`, sql`${outbox.dueAt}`),
        leasedUntil: ifParked(sql`excluded.leased_until`, sql`${outbox.leasedUntil}`),
      },
    })
    .returning({ ...eventColumns(), leasedUntil: outbox.leasedUntil });
}

/**
 * The sender's row with the outcome, in the order
 * in which a person should learn of the reasons.
 */
function decisionOf(db: Database, message: Queueing, inCrisis: boolean) {
  const { now, mostWaiting, messageId } = message;
  const ofSender = and(eq(waiting.userId, users.id), isNull(waiting.parkedAt));
  const before = db.select({ seq: waiting.seq }).from(waiting).where(ofSender);
  const others = db
    .select({ count: count() })
    .from(waiting)
    .where(and(ofSender, ne(waiting.messageId, messageId)));

  const sender = db.$with('sender').as(
    db
      .select({
        id: users.id,
        phone: users.phone,
        chatKey: users.chatKey,
        tier: entitledTierSql(now).as('tier_now'),
        used: usedSql(now).as('used_now'),
        others: sql<number>`${others}`.as('others'),
        hasWaiting: sql<number>`exists ${before}`.as('has_waiting'),
      })
      .from(users)
      .where(eq(users.id, message.from)),
  );
  const hasVoice = message.kind === 'voice' ? voiceSql(sql`${sender.tier}`) : sql`true`;
  const fits = inCrisis ? sql`true` : fitsLimitSql(sql`${sender.used} + 1`, sql`${sender.tier}`);
  const isWaitingLimited = inCrisis && message.kind === 'text' ? sql`false` : sql`true`;
  const outcome = sql<QueueOutcome>`case
    when ${sender.chatKey} is null then 'consentNeeded'
    when not ${hasVoice} then 'voiceNotInPlan'
    when not ${fits} then 'allowanceSpent'
    when ${isWaitingLimited} and ${sender.others} >= ${mostWaiting} then 'rateLimited'
    else 'queued' end`;

  const { id, phone, hasWaiting } = sender;
  return db.$with('decision').as(
    db
      .with(sender)
      .select({ id, phone, hasWaiting, outcome: outcome.as('outcome') })
      .from(sender),
  );
}

/**
 * What is stored of the event; the text is
 * read from the conversation when it is sent.
 */
function bodyOf({ messageId, locale, country, now }: Queueing): string {
  const timestamp = new Date(now).toISOString();
  return JSON.stringify({
    type: 'chat.message',
    timestamp,
    data: { messageId, locale, country },
  });
}

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
  const limit = weeklyLimit(entitledTier(user, now));
  const resetsAt = new Date(currentWeek(user, now) + weekMs).toISOString();
  return { used, limit, resetsAt };
}

/**
 * Removes the event of a refused message, or parks it
 * again: without its message it would delay the next ones.
 */
export function unqueue(db: Database, { seq, createdAt }: QueuedEvent, before: QueueDecision) {
  const { parkedSince, parkedAttempts, parkedCreatedAt } = before;
  const same = and(eq(outbox.seq, seq), eq(outbox.createdAt, createdAt));
  if (parkedSince === null) return db.delete(outbox).where(same);

  return db
    .update(outbox)
    .set({
      parkedAt: parkedSince,
      attempts: parkedAttempts!,
      createdAt: parkedCreatedAt!,
      dueAt: neverDue,
      leasedUntil: 0,
    })
    .where(same);
}

/**
 * Queues a failed message's event anew unless a request holds
 * it; under a new `seq`, as that request may park it late.
 */
export async function requeue(db: Database, userId: string, messageId: string): Promise<boolean> {
  const now = Date.now();
  const { rowsAffected } = await db
    .update(outbox)
    .set({ seq: newestSeq, createdAt: now, dueAt: now, attempts: 0, parkedAt: null })
    .where(and(eq(outbox.id, eventId(userId, messageId)), lte(outbox.leasedUntil, now)));
  return rowsAffected > 0;
}
