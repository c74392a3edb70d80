import { sql, type SQL } from 'drizzle-orm';

export const weekMs = 7 * 86_400_000;

type Weeks = { weekAnchor: number; weekFrozen: boolean; weekStart: number };

/**
 * The start (unix ms) of the week that `now` lies in, counted from the anchor. A clock behind the anchor is in the
 * first week (the billing clock may run ahead of ours); a frozen week does not end.
 */
export function currentWeek({ weekAnchor, weekFrozen, weekStart }: Weeks, now: number): number {
  if (weekFrozen) return weekStart;
  return weekAnchor + weekMs * Math.floor(Math.max(0, now - weekAnchor) / weekMs);
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: number): SQL<number> {
  return sql`(case when week_frozen then week_start
    else week_anchor + ${sql.raw(String(weekMs))} * (max(0, cast(${now} as integer) - week_anchor) / ${sql.raw(String(weekMs))}) end)`;
}
