import { and, asc, lte, type SQL } from 'drizzle-orm';
import { customers, type User } from '#db/schema';
import { build } from '../lib/sql.ts';
import { hourMs, minuteMs } from '../lib/time.ts';

/** `billingWatchUntil` is an hour after its opening. */
const checkoutMs = 24 * hourMs;
const intervalMs = 50 * minuteMs;
/** Until Stripe renews, the next week is not paid. */
const renewalMs = hourMs;
const longestPauseMs = 6 * hourMs;

export const customersPerRun = 500;

type DueFacts = {
  live: boolean;
  user: Pick<User, 'billingWatchUntil'>;
  setupSession: string | null;
  /** The end (unix ms) of the present period or trial. */
  renewalAt: number | null;
  awaitsPayment: boolean;
};

/** Unix ms; null if only Stripe's pages can change the state. */
export function dueAfter(facts: DueFacts, now = Date.now()): number | null {
  const { live, user, setupSession, renewalAt, awaitsPayment } = facts;
  const watchUntil = user.billingWatchUntil ?? 0;
  const renewsSoon = live && renewalAt !== null && renewalAt <= now && now < renewalAt + renewalMs;
  if (now < watchUntil || awaitsPayment || renewsSoon) return now + minuteMs / 2;
  const checkoutMayBeOpen = now < watchUntil + checkoutMs;
  if (!live && setupSession === null && !checkoutMayBeOpen) return null;
  const endsAt = live && renewalAt !== null && renewalAt > now ? renewalAt : Infinity;
  return Math.min(now + intervalMs, endsAt);
}

/** In ms; short at first, for short outages. */
export function pauseAfter(failures: number): number {
  return failures < 3 ? 1 : Math.min(minuteMs * 2 ** (failures - 3), longestPauseMs);
}

export function dueCustomersSql(now: number, limit: number): SQL {
  return build
    .select({ userId: customers.userId })
    .from(customers)
    .where(and(lte(customers.dueAt, now), lte(customers.leaseUntil, now)))
    .orderBy(asc(customers.dueAt))
    .limit(limit)
    .getSQL();
}
