import { and, asc, eq, inArray } from 'drizzle-orm';
import { customers, purchaseChoices } from '#db/schema';
import type { Database } from '../lib/database.ts';

/** Later than any due date, so that only `closeLeftCustomers` finds the row. */
const leftDueAt = Number.MAX_SAFE_INTEGER;

/**
 * What is kept of a deleted account until Stripe, or the owner, confirms
 * that nothing can charge: no number. The lease ends when it is tried again.
 * Beside it the choices by which an open statement of withdrawal is settled.
 */
export const leftBehind = {
  dueAt: leftDueAt,
  leavingAt: null,
  leaseToken: null,
  leaseUntil: 0,
  setupSession: null,
};

export const isLeft = eq(customers.dueAt, leftDueAt);

export const howToClose =
  'End its subscriptions in the Stripe Dashboard, and delete the customer; then `npm run support -- unclosed close CUSTOMER --yes`.';

export function leftCustomers(db: Database) {
  const { userId, stripeId, leaseUntil } = customers;
  return db
    .select({ userId, stripeId, triedAgainAt: leaseUntil })
    .from(customers)
    .where(isLeft)
    .orderBy(asc(leaseUntil));
}

export async function deleteLeft(db: Database, userId: string): Promise<void> {
  const left = and(isLeft, eq(customers.userId, userId));
  const ofLeft = db.select({ userId: customers.userId }).from(customers).where(left);
  await db.batch([
    db.delete(purchaseChoices).where(inArray(purchaseChoices.userId, ofLeft)),
    db.delete(customers).where(left),
  ]);
}
