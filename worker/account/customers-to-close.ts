import { and, asc, eq, inArray } from 'drizzle-orm';
import { customers, purchaseChoices } from '#db/schema';
import type { Database } from '../lib/database.ts';

/** Later than any due date, so that only `closeUnclosedCustomers` finds the row. */
const unclosedDueAt = Number.MAX_SAFE_INTEGER;

/**
 * What is kept of a deleted account until Stripe, or the owner, confirms
 * that nothing can charge: no number. The lease ends when it is tried again.
 * Beside it the choices by which an open statement of withdrawal is settled.
 */
export const unclosedRow = {
  dueAt: unclosedDueAt,
  deletionBeganAt: null,
  leaseToken: null,
  leaseUntil: 0,
  setupSession: null,
};

export const isUnclosedSql = eq(customers.dueAt, unclosedDueAt);

export const howToClose =
  'End its subscriptions in the Stripe Dashboard, and delete the customer; then `npm run support -- unclosed close CUSTOMER --yes`.';

export function unclosedCustomers(db: Database) {
  const { userId, stripeId, leaseUntil } = customers;
  return db
    .select({ userId, stripeId, triedAgainAt: leaseUntil })
    .from(customers)
    .where(isUnclosedSql)
    .orderBy(asc(leaseUntil));
}

export async function deleteUnclosed(db: Database, userId: string): Promise<void> {
  const unclosed = and(isUnclosedSql, eq(customers.userId, userId));
  const ofUnclosed = db.select({ userId: customers.userId }).from(customers).where(unclosed);
  await db.batch([
    db.delete(purchaseChoices).where(inArray(purchaseChoices.userId, ofUnclosed)),
    db.delete(customers).where(unclosed),
  ]);
}
