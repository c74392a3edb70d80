import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notExists,
  or,
} from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { outbox } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { iif, least, minus, plus } from '../lib/expressions.ts';
import { sql } from '../lib/sql-text.ts';
import { messageLifetimeMs, next, type Attempted, type DeliveryResult } from './delivery-rules.ts';
import {
  cancelledBody,
  eventColumns,
  isCancelledEvent,
  storedOf,
  type OutboxEvent,
} from './outbox.ts';

export const leaseMs = 30_000;
/** Of a parked event: later than any `now`, so that the index of due events excludes it. */
export const neverDue = Number.MAX_SAFE_INTEGER;
/**
 * How many due events a statement looks at, whatever waits: to lease from them takes
 * 0.6 ms, to postpone them 13 ms, also with 100,000 rows behind an event of their
 * account that the bot does not accept (2026-11-28).
 */
const dueAtOnce = 1000;

const expiredAtOnce = 50;

const earlier = alias(outbox, 'earlier');
const head = alias(outbox, 'head');

export function attemptedOf(event: OutboxEvent): Attempted {
  const { hasAccount, attempts, createdAt } = event;
  const type = isCancelledEvent(event) ? 'cancelled' : storedOf(event).type;
  return { type, hasAccount, attempts, createdAt };
}

export function settleEvent(db: Database, event: OutboxEvent, result: DeliveryResult, now: number) {
  const own = eq(outbox.seq, event.seq);
  const step = next(attemptedOf(event), result, now);
  const free = { leasedUntil: 0 };

  switch (step.kind) {
    case 'remove':
      return db.delete(outbox).where(own);
    case 'removeUnlessQueuedAgain':
      // A request that sends the message again updates
      // `created_at`, and may be storing it now.
      return db.delete(outbox).where(and(own, eq(outbox.createdAt, event.createdAt)));
    case 'moveBehind':
      return db
        .update(outbox)
        .set({
          ...free,
          seq: nextSeqSql,
          attempts: minus(outbox.attempts, 1),
        })
        .where(and(own, ne(outbox.body, cancelledBody)));
    case 'park':
      return db
        .update(outbox)
        .set({
          ...free,
          dueAt: neverDue,
          parkedAt: step.parkedAt,
        })
        .where(own);
    case 'wait':
      return db
        .update(outbox)
        .set({ ...free, dueAt: step.dueAt })
        .where(own);
  }
}

export const nextSeqSql = sql<number>`(select max(${outbox.seq}) + 1 from ${outbox})`;

export function removeCancelled(db: Database, { seq }: OutboxEvent) {
  return db.delete(outbox).where(and(eq(outbox.seq, seq), eq(outbox.body, cancelledBody)));
}

function isDueSql(now: number) {
  return and(lte(outbox.dueAt, now), lte(outbox.leasedUntil, now));
}

function leased(db: Database, now: number) {
  const attempts = plus(outbox.attempts, 1);
  return db.update(outbox).set({ leasedUntil: now + leaseMs, attempts });
}

/** One that nobody has tried waited for those before it alone. */
export function leaseOldestOf(db: Database, userId: string, kinds: 'all' | 'withoutMessages') {
  const now = Date.now();

  const oldest = db
    .select({ seq: head.seq })
    .from(head)
    .where(and(eq(head.userId, userId), isNull(head.parkedAt)))
    .orderBy(asc(head.seq))
    .limit(1);

  const isReady = and(
    or(lte(outbox.dueAt, now), eq(outbox.attempts, 0)),
    lte(outbox.leasedUntil, now),
    kinds === 'all' ? undefined : isNull(outbox.messageId),
  );

  return leased(db, now)
    .where(and(eq(outbox.seq, oldest), isReady))
    .returning(eventColumns());
}

export function leaseDue(db: Database, most: number) {
  const now = Date.now();
  const due = dueEvents(db, now);

  const before = db
    .select({ seq: earlier.seq })
    .from(earlier)
    .where(and(eq(earlier.userId, due.userId), lt(earlier.seq, due.seq), isNull(earlier.parkedAt)));

  const oldest = db
    .select({ seq: due.seq })
    .from(due)
    .where(notExists(before))
    .orderBy(asc(due.dueAt))
    .limit(most);

  return leased(db, now).where(inArray(outbox.seq, oldest)).returning(eventColumns());
}

/**
 * Makes events behind one that waits for its next attempt
 * due with it, so that no lease looks at them until then.
 */
export function postponeBlocked(db: Database, now: number) {
  const due = dueEvents(db, now);

  const headDue = db
    .select({ dueAt: head.dueAt })
    .from(head)
    .where(and(eq(head.userId, outbox.userId), isNull(head.parkedAt)))
    .orderBy(asc(head.seq))
    .limit(1);

  const blocked = and(
    inArray(outbox.seq, db.select({ seq: due.seq }).from(due)),
    gt(headDue, now),
    or(isNull(outbox.messageId), gt(outbox.createdAt, now - messageLifetimeMs)),
  );

  const tooOldAt = plus(outbox.createdAt, messageLifetimeMs);
  const dueAt = iif(isNull(outbox.messageId), headDue, least(headDue, tooOldAt));

  return db.update(outbox).set({ dueAt }).where(blocked);
}

function dueEvents(db: Database, now: number) {
  return db
    .select({
      seq: outbox.seq,
      userId: outbox.userId,
      dueAt: outbox.dueAt,
    })
    .from(outbox)
    .where(isDueSql(now))
    .orderBy(asc(outbox.dueAt))
    .limit(dueAtOnce)
    .as('due');
}

export function tooOld(db: Database, now: number) {
  const due = dueEvents(db, now);
  const isOld = lte(outbox.createdAt, now - messageLifetimeMs);
  return db
    .select(eventColumns())
    .from(outbox)
    .where(
      and(
        inArray(outbox.seq, db.select({ seq: due.seq }).from(due)),
        isNotNull(outbox.messageId),
        isOld,
      ),
    )
    .limit(expiredAtOnce);
}

/**
 * An event is queued before its message is stored, so two
 * messages sent at once may be stored in the other order.
 */
export async function isQueuedBehind(
  db: Database,
  { seq, userId }: OutboxEvent,
  messageId: string,
): Promise<boolean> {
  const behind = await db
    .select({ seq: outbox.seq })
    .from(outbox)
    .where(
      and(
        eq(outbox.userId, userId!),
        gt(outbox.seq, seq),
        eq(outbox.messageId, messageId),
        isNull(outbox.parkedAt),
      ),
    );
  return behind.length > 0;
}
