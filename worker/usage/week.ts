import { sql, type SQL } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { nameOf, type Value } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';

export const weekMs = 7 * dayMs;

type Weeks = { weekAnchor: number; weekFrozen: boolean };

/**
 * The start (unix ms) of the week that contains `now`, counted from the anchor. Before the anchor it is the first week,
 * since Stripe's clock may be ahead of ours. A frozen week does not end by the clock: a paid week lasts until the next
 * one is paid, which moves the anchor.
 */
export function currentWeek({ weekAnchor, weekFrozen }: Weeks, now: number): number {
  if (weekFrozen) return weekAnchor;
  return weekAnchor + weekMs * Math.floor(Math.max(0, now - weekAnchor) / weekMs);
}

/** The count of the current week, and its end (unix ms); null for a week that does not end by the clock. */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return { used: week === user.weekStart ? user.used : 0, resetsAt: user.weekFrozen ? null : week + weekMs };
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: Value<number>): SQL<number> {
  const [frozen, anchor] = [nameOf(users.weekFrozen), nameOf(users.weekAnchor)];
  const week = sql.raw(String(weekMs));
  return sql`(case when ${frozen} then ${anchor}
    else ${anchor} + ${week} * (max(0, cast(${now} as integer) - ${anchor}) / ${week}) end)`;
}
