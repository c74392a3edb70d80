import { and, eq, gte, isNull, lte } from 'drizzle-orm';
import { outbox, withdrawals, type Withdrawal } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { inJson, plus, rowExists } from '../lib/expressions.ts';
import { objectionMs } from './withdrawal-right.ts';
import { objected, waitingPublicOfSql } from './statements.ts';

/** Its person may still confirm it. */
export const isUnconfirmed = ({ origin, state, userId }: Withdrawal): boolean =>
  origin === 'public' && state === 'received' && userId !== null;

export const isOpenToObjection = (statement: Withdrawal): boolean =>
  isUnconfirmed(statement) && statement.subscription === null;

/** Instant (unix ms). */
export const objectionUntil = ({ submittedAt }: Pick<Withdrawal, 'submittedAt'>): number =>
  submittedAt + objectionMs;

/**
 * Silence is no answer of somebody who was not asked: a statement
 * whose time is over while the bot still has not told its person
 * takes no effect by itself any more.
 */
export function leaveUntold(db: Database, now: number) {
  const { dueAt, submittedAt, origin, state, subscription, attempts } = withdrawals;
  const isSilent = and(
    lte(dueAt, now),
    gte(dueAt, plus(submittedAt, objectionMs)),
    eq(origin, 'public'),
    eq(state, 'received'),
    isNull(subscription),
    eq(attempts, 0),
  );

  const isUntold = rowExists(
    outbox,
    and(
      eq(outbox.userId, withdrawals.userId),
      eq(inJson(outbox.body, '$.type'), 'withdrawal.received'),
    ),
  );

  return db.update(withdrawals).set({ dueAt: null }).where(and(isSilent, isUntold));
}

/**
 * Leaves a statement to the owner, and with it all others that wait: their
 * person was told of one. False if it is not this user's, or has taken
 * effect. Its caller holds the lease, so nothing begins between its read
 * and its write.
 */
export async function objectTo(db: Database, id: string, userId: string): Promise<boolean> {
  const waiting = waitingPublicOfSql(userId);
  const named = db
    .select({ id: withdrawals.id })
    .from(withdrawals)
    .where(and(eq(withdrawals.id, id), waiting));
  if ((await named).length === 0) return false;

  await db
    .update(withdrawals)
    .set({
      state: 'needs_owner',
      reason: objected,
      dueAt: null,
    })
    .where(waiting);
  return true;
}
