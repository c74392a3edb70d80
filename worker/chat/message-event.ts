import { and, eq, gt, lte, ne } from 'drizzle-orm';
import { outbox } from '#db/schema';
import { leaseMs, neverDue, nextSeqSql } from '../bot/outbox-statements.ts';
import { cancelledBody, type OutboxEvent } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';

export function eventId(userId: string, messageId: string): string {
  return `chat_${userId}_${messageId}`;
}

export type EventBefore = {
  /** False if another request has queued it. */
  ownsEvent: boolean;
  parkedSince: number | null;
  parkedAttempts: number | null;
  parkedCreatedAt: number | null;
};

export type QueuedEvent = OutboxEvent & { leasedUntil: number };

/**
 * Removes the event of a message that was not stored, or parks it again:
 * without its message it would delay the next ones. Another request of the
 * same message that has relied on the event meanwhile keeps it, by its
 * later `created_at`.
 */
export function unqueue(db: Database, { seq, createdAt }: QueuedEvent, before: EventBefore) {
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
    .where(and(same, ne(outbox.body, cancelledBody)));
}

/**
 * Takes the first attempt of an event from the request that has queued it, which may be
 * gone; false if that attempt was made, or another request has taken it.
 */
export async function takeAttempt(db: Database, { seq }: QueuedEvent): Promise<boolean> {
  const now = Date.now();
  const isFirst = and(eq(outbox.seq, seq), eq(outbox.attempts, 1), gt(outbox.leasedUntil, now));
  const { rowsAffected } = await db
    .update(outbox)
    .set({ attempts: 2, leasedUntil: now + leaseMs })
    .where(isFirst);
  return rowsAffected > 0;
}

/**
 * Queues a failed message's event anew unless a request holds it. Takes
 * a new `seq`: the request that failed it may still park the old one.
 */
export async function requeue(db: Database, userId: string, messageId: string): Promise<boolean> {
  const now = Date.now();
  const { rowsAffected } = await db
    .update(outbox)
    .set({
      seq: nextSeqSql,
      createdAt: now,
      dueAt: now,
      attempts: 0,
      parkedAt: null,
    })
    .where(and(eq(outbox.id, eventId(userId, messageId)), lte(outbox.leasedUntil, now)));
  return rowsAffected > 0;
}
