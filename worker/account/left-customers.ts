import { and, asc, eq } from 'drizzle-orm';
import { customers } from '#db/schema';
import type { Database } from '../lib/database.ts';

/** Later than any due date, so that only `closeLeftCustomers` finds the row. */
const leftDueAt = Number.MAX_SAFE_INTEGER;

/**
 * What is kept of a deleted account until Stripe, or the owner, confirms
 * that nothing can charge: no number. The lease ends when it is tried again.
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
  await db.delete(customers).where(and(isLeft, eq(customers.userId, userId)));
}
