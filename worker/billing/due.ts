import { sql, type SQL } from 'drizzle-orm';
import { customers, type User } from '#db/schema';
import { hourMs, minuteMs } from '../platform/time.ts';

/** A checkout can be completed for 24 hours after its page was opened, which is an hour before the watch ends. */
const checkoutMs = 24 * hourMs;
const intervalMs = 50 * minuteMs;
const longestPauseMs = 6 * hourMs;

/** Half a million customers need 350 a minute to be fetched once a day. */
export const customersPerRun = 500;

type Facts = { live: boolean; user: Pick<User, 'billingWatchUntil'>; setupSession: string | null };

/** When (unix ms) the cron job fetches a customer's state after a fetch; null when nothing can change without a visit. */
export function dueAfter({ live, user, setupSession }: Facts, now = Date.now()): number | null {
  const watchUntil = user.billingWatchUntil ?? 0;
  if (now < watchUntil) return now + minuteMs / 2;
  const checkoutMayBeOpen = now < watchUntil + checkoutMs;
  return live || setupSession !== null || checkoutMayBeOpen ? now + intervalMs : null;
}

/** How long (ms) a customer waits after `failures` failed fetches in a row: an outage costs it nothing but a minute. */
export function pauseAfter(failures: number): number {
  return failures < 3 ? 1 : Math.min(minuteMs * 2 ** (failures - 3), longestPauseMs);
}

/** SQL: the customers that the cron job acquires next, those first that have waited longest. */
export function dueCustomers(now: number, limit: number): SQL {
  return sql`select ${customers.userId} from ${customers} where ${customers.dueAt} <= ${now}
    and ${customers.leaseUntil} <= ${now} order by ${customers.dueAt} limit ${limit}`;
}
