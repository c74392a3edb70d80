import { eq, sql, type SQL } from 'drizzle-orm';
import { customers } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { pauseAfter } from './due.ts';
import type { Changes, Customer, LeasedCustomer } from './leased-customer.ts';
import { StripeUnavailable } from './stripe-client.ts';

/** A statement that releases a lease with further changes. */
export function release(db: Database, { token }: Pick<LeasedCustomer, 'token'>, changes: Changes = {}) {
  return db
    .update(customers)
    .set({ leaseUntil: 0, leaseToken: null, ...changes })
    .where(eq(customers.leaseToken, token));
}

/** The changes after a failure: a 5xx that Stripe would replay for a day needs a new idempotency key. */
export function afterFailure(error: unknown): Changes {
  return error instanceof StripeUnavailable && error.replays ? { attempt: sql`${customers.attempt} + 1` } : {};
}

/** As `afterFailure`, with the pause before the cron job's next fetch. */
export function afterFailedFetch(error: unknown, customer: Customer, now = Date.now()): Changes {
  const failures = customer.failures + 1;
  return { ...afterFailure(error), failures, dueAt: now + pauseAfter(failures) };
}

/** SQL: whether the lease is still held; guards writes against an expired lease. */
export function held({ token }: Pick<LeasedCustomer, 'token'>): SQL {
  return sql`exists (select 1 from ${customers} where ${customers.leaseToken} = ${token})`;
}
