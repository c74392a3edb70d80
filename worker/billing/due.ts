import { sql, type SQL } from 'drizzle-orm';
import { customers, type User } from '#db/schema';
import { hourMs, minuteMs } from '../lib/time.ts';

/** A checkout expires 24 hours after it was opened; `billingWatchUntil` is an hour after that opening. */
const checkoutMs = 24 * hourMs;
const intervalMs = 50 * minuteMs;
const longestPauseMs = 6 * hourMs;

/** Half a million customers need 350 a minute to be fetched once a day. */
export const customersPerRun = 500;

type Facts = { live: boolean; user: Pick<User, 'billingWatchUntil'>; setupSession: string | null };

/**
 * When (unix ms) the cron job fetches a customer's state after a fetch; null if nothing can change before the user
 * opens Stripe's pages.
 */
export function dueAfter({ live, user, setupSession }: Facts, now = Date.now()): number | null {
  const watchUntil = user.billingWatchUntil ?? 0;
  if (now < watchUntil) return now + minuteMs / 2;
  const checkoutMayBeOpen = now < watchUntil + checkoutMs;
  return live || setupSession !== null || checkoutMayBeOpen ? now + intervalMs : null;
}

/**
 * The pause (ms) after `failures` failed fetches in a row; short at first, so that an outage delays a customer little.
 */
export function pauseAfter(failures: number): number {
  return failures < 3 ? 1 : Math.min(minuteMs * 2 ** (failures - 3), longestPauseMs);
}

/** SQL: the customers that the cron job acquires next, those that waited longest first. */
export function dueCustomers(now: number, limit: number): SQL {
  return sql`select ${customers.userId} from ${customers} where ${customers.dueAt} <= ${now}
    and ${customers.leaseUntil} <= ${now} order by ${customers.dueAt} limit ${limit}`;
}
