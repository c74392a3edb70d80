import { sql, type SQL } from 'drizzle-orm';
import type { Value } from '../prepared.ts';

export const weekMs = 7 * 86_400_000;

type Weeks = { weekAnchor: number; weekFrozen: boolean; weekStart: number };

/**
 * The start (unix ms) of the week that `now` lies in, counted from the anchor. A clock behind the anchor is in the
 * first week (the billing clock may run ahead of ours). A frozen week does not end: it is the one at the anchor, or a
 * later one that had begun by our clock before the payment failed.
 */
export function currentWeek({ weekAnchor, weekFrozen, weekStart }: Weeks, now: number): number {
  if (weekFrozen) return Math.max(weekStart, weekAnchor);
  return weekAnchor + weekMs * Math.floor(Math.max(0, now - weekAnchor) / weekMs);
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: Value<number>): SQL<number> {
  return sql`(case when week_frozen then max(week_start, week_anchor)
    else week_anchor + ${sql.raw(String(weekMs))} * (max(0, cast(${now} as integer) - week_anchor) / ${sql.raw(String(weekMs))}) end)`;
}
