import { and, eq, gt, inArray, sql, type SQL } from 'drizzle-orm';
import { leftWeeks, users, type User } from '#db/schema';
import { build, excluded, insertSelect, nameOf, type Value } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { FreeWeek } from '../accounts/user-record.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Settings } from '../settings.ts';

export const weekMs = 7 * dayMs;

/**
 * A call that began before the end of a week may be applied after one that began later,
 * or had a later clock.
 */
const latenessMs = minuteMs;

type Weeks = { weekAnchor: number; weekFrozen: boolean; weekStart: number };

/**
 * The start (unix ms) of the week that contains `now`. A frozen week lasts until the
 * next one is paid.
 */
export function currentWeek({ weekAnchor, weekFrozen, weekStart }: Weeks, now: number): number {
  if (weekFrozen) return weekAnchor;
  const weekAt = (at: number) =>
    weekAnchor + weekMs * Math.floor(Math.max(0, at - weekAnchor) / weekMs);
  return weekAt(now + latenessMs) === weekStart ? weekStart : weekAt(now);
}

/**
 * The count of the current week, and its end (unix ms); null for a week that does not
 * end by the clock.
 */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return {
    used: week === user.weekStart ? user.used : 0,
    resetsAt: user.weekFrozen ? null : week + weekMs,
  };
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: Value<number>): SQL<number> {
  const { weekAnchor, weekFrozen, weekStart } = users;
  const [week, lateness] = [weekMs, latenessMs].map((ms) => sql.raw(String(ms)));
  const nowSql = sql`cast(${now} as integer)`;
  const weekAtSql = (at: SQL) =>
    sql`${weekAnchor} + ${week} * (max(0, ${at} - ${weekAnchor}) / ${week})`;
  return sql`(case
    when ${weekFrozen} then ${weekAnchor}
    when ${weekAtSql(sql`${nowSql} + ${lateness}`)} = ${weekStart} then ${weekStart}
    else ${weekAtSql(nowSql)} end)`;
}

/** SQL: the count of the current week of a row of `users`. */
export function usedSql(now: Value<number>): SQL<number> {
  const { weekStart, used } = users;
  return sql`(case when ${weekStart} = ${currentWeekSql(now)} then ${used} else 0 end)`;
}

/**
 * The free week in which a new user of a number begins: the one that a deleted account
 * left, else a new one.
 */
export async function firstWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
): Promise<FreeWeek> {
  const macs = await hashesOf(phone, settings);
  const isTheirs = and(inArray(leftWeeks.phoneMac, macs), gt(leftWeeks.endsAt, now));
  const left = (value: SQL) => build.select({ value }).from(leftWeeks).where(isTheirs).limit(1);
  return {
    began: sql`coalesce(${left(sql`${leftWeeks.endsAt} - ${weekMs}`)}, ${now})`,
    used: sql`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`,
  };
}

/**
 * SQL that keeps the used free week of the user in `from`, under the hash of their
 * number, until the week ends.
 */
export async function keepFreeWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
  from: SQL,
): Promise<SQL> {
  const [phoneMac] = await hashesOf(phone, settings);
  const { used, weekStart, weekFrozen } = users;
  const row = {
    phoneMac: phoneMac!,
    used: sql`${used}`,
    endsAt: sql`${weekStart} + ${weekMs}`,
  };
  const isFree = and(
    gt(used, 0),
    eq(weekFrozen, false),
    sql`${weekStart} = ${currentWeekSql(now)}`,
  );
  const kept = insertSelect(leftWeeks, row, sql`${from} and ${isFree}`);
  return sql`${kept} on conflict (${nameOf(leftWeeks.phoneMac)}) do update set
    ${nameOf(leftWeeks.used)} = ${excluded(leftWeeks.used)},
    ${nameOf(leftWeeks.endsAt)} = ${excluded(leftWeeks.endsAt)}`;
}

function hashesOf(phone: PhoneNumber, { CODE_PEPPER }: Settings): Promise<string[]> {
  return keyedHashes(CODE_PEPPER, 'left-week', phone);
}
