import { and, desc, gt, inArray, sql, type SQL } from 'drizzle-orm';
import { leftWeeks, users, type User } from '#db/schema';
import { build, excluded, insertSelect, nameOf } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { FreeWeek } from '../identity/user-record.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Settings } from '../settings.ts';

export const weekMs = 7 * dayMs;

/**
 * A call that began before the end of a week may be applied
 * after one that began later, or had a later clock.
 */
const latenessMs = minuteMs;

type Weeks = { weekAnchor: number; weekFrozen: boolean; weekStart: number };

/**
 * The start (unix ms) of the week that contains `now`.
 * A frozen week lasts until the next one is paid.
 */
export function currentWeek({ weekAnchor, weekFrozen, weekStart }: Weeks, now: number): number {
  if (weekFrozen) return weekAnchor;
  const weekAt = (at: number) =>
    weekAnchor + weekMs * Math.floor(Math.max(0, at - weekAnchor) / weekMs);
  return weekAt(now + latenessMs) === weekStart ? weekStart : weekAt(now);
}

/**
 * The count of the current week, and its end (unix
 * ms); null for a week that does not end by the clock.
 */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return {
    used: week === user.weekStart ? user.used : 0,
    resetsAt: user.weekFrozen ? null : week + weekMs,
  };
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: number): SQL<number> {
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
export function usedSql(now: number): SQL<number> {
  const { weekStart, used } = users;
  return sql`(case when ${weekStart} = ${currentWeekSql(now)} then ${used} else 0 end)`;
}

/** SQL: a value of the week that was kept for a number and lasts, or null. */
async function leftWeekOf(phone: PhoneNumber, settings: Settings, now: number) {
  const macs = await hashesOf(phone, settings);
  const isTheirs = and(inArray(leftWeeks.phoneMac, macs), gt(leftWeeks.endsAt, now));
  return (value: SQL) =>
    build
      .select({ value })
      .from(leftWeeks)
      .where(isTheirs)
      .orderBy(desc(leftWeeks.used), desc(leftWeeks.endsAt))
      .limit(1);
}

/**
 * The free week in which a new user of a number begins:
 * the one that a deleted account left, else a new one.
 */
export async function firstWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
): Promise<FreeWeek> {
  const left = await leftWeekOf(phone, settings, now);
  return {
    began: sql`coalesce(${left(sql`${leftWeeks.endsAt} - ${weekMs}`)}, ${now})`,
    used: sql`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`,
  };
}

/** SQL: the messages of the week that was kept for a number, 0 for none. */
export async function leftCount(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
): Promise<SQL<number>> {
  const left = await leftWeekOf(phone, settings, now);
  return sql<number>`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`;
}

/**
 * SQL that keeps the count of the user in `from` under the hash of their
 * number, until its week ends: whoever has the number next goes on with it.
 */
export async function keepWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
  from: SQL,
): Promise<SQL> {
  const [phoneMac] = await hashesOf(phone, settings);
  const { used, weekStart } = users;
  const endsAt = sql`${weekStart} + ${weekMs}`;
  const row = { phoneMac: phoneMac!, used: sql`${used}`, endsAt };
  const kept = insertSelect(leftWeeks, row, sql`${from} and ${used} > 0 and ${endsAt} > ${now}`);
  return sql`${kept} ${orGreater(now)}`;
}

/**
 * SQL that keeps for a number what is kept for another one of the same person.
 */
export async function keepWeekOf(
  before: PhoneNumber,
  phone: PhoneNumber,
  settings: Settings,
  now: number,
  when: SQL,
): Promise<SQL> {
  const left = await leftWeekOf(before, settings, now);
  const [phoneMac] = await hashesOf(phone, settings);
  const { used, endsAt } = leftWeeks;
  const row = { phoneMac: phoneMac!, used: sql`week.used`, endsAt: sql`week.ends_at` };
  const week = sql`(select ${left(sql`${used}`)} as used, ${left(sql`${endsAt}`)} as ends_at) week`;
  const kept = insertSelect(leftWeeks, row, sql`from ${week} where week.used > 0 and ${when}`);
  return sql`${kept} ${orGreater(now)}`;
}

/**
 * SQL: of two weeks that were kept for a number
 * the greater count stands, to the later end.
 */
function orGreater(now: number): SQL {
  const { phoneMac, used, endsAt } = leftWeeks;
  return sql`on conflict (${nameOf(phoneMac)}) do update set
    ${nameOf(used)} = case when ${endsAt} > ${now} then max(${used}, ${excluded(used)})
      else ${excluded(used)} end,
    ${nameOf(endsAt)} = max(${endsAt}, ${excluded(endsAt)})`;
}

function hashesOf(phone: PhoneNumber, { CODE_PEPPER }: Settings): Promise<string[]> {
  return keyedHashes(CODE_PEPPER, 'left-week', phone);
}
