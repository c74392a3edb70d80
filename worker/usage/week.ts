import { sql, type SQL, inArray } from 'drizzle-orm';
import { users, type User, leftWeeks } from '#db/schema';
import { nameOf, type Value, excluded, insertSelect } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { FreeWeek } from '../accounts/user-record.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Settings } from '../settings.ts';

export const weekMs = 7 * dayMs;

/** A call that began before the end of a week may be applied after one that began later, or had a later clock. */
const latenessMs = minuteMs;

type Weeks = { weekAnchor: number; weekFrozen: boolean; weekStart: number };

/** The start (unix ms) of the week that contains `now`. A frozen week lasts until the next one is paid. */
export function currentWeek({ weekAnchor, weekFrozen, weekStart }: Weeks, now: number): number {
  if (weekFrozen) return weekAnchor;
  const weekAt = (at: number) =>
    weekAnchor + weekMs * Math.floor(Math.max(0, at - weekAnchor) / weekMs);
  return weekAt(now + latenessMs) === weekStart ? weekStart : weekAt(now);
}

/** The count of the current week, and its end (unix ms); null for a week that does not end by the clock. */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return {
    used: week === user.weekStart ? user.used : 0,
    resetsAt: user.weekFrozen ? null : week + weekMs,
  };
}

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: Value<number>): SQL<number> {
  const [frozen, anchor, start] = [users.weekFrozen, users.weekAnchor, users.weekStart].map(nameOf);
  const [week, lateness] = [weekMs, latenessMs].map((ms) => sql.raw(String(ms)));
  const weekAt = (at: SQL) => sql`${anchor} + ${week} * (max(0, ${at} - ${anchor}) / ${week})`;
  const at = sql`cast(${now} as integer)`;
  return sql`(case when ${frozen} then ${anchor} when ${weekAt(sql`${at} + ${lateness}`)} = ${start} then ${start}
    else ${weekAt(at)} end)`;
}

const hashesOf = (phone: PhoneNumber, { CODE_PEPPER }: Settings) =>
  keyedHashes(CODE_PEPPER, 'left-week', phone);

/** The free week in which a new user of a number begins: the one that a deleted account left, else a new one. */
export async function firstWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
): Promise<FreeWeek> {
  const macs = await hashesOf(phone, settings);
  const isTheirs = sql`${inArray(leftWeeks.phoneMac, macs)} and ${leftWeeks.endsAt} > ${now}`;
  const left = (value: SQL) => sql`(select ${value} from ${leftWeeks} where ${isTheirs} limit 1)`;
  return {
    began: sql`coalesce(${left(sql`${leftWeeks.endsAt} - ${weekMs}`)}, ${now})`,
    used: sql`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`,
  };
}

/** SQL that keeps the used free week of the user in `from`, under the hash of their number, until the week ends. */
export async function keepFreeWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
  from: SQL,
): Promise<SQL> {
  const [phoneMac] = await hashesOf(phone, settings);
  const row = {
    phoneMac: phoneMac!,
    used: sql`${users.used}`,
    endsAt: sql`${users.weekStart} + ${weekMs}`,
  };
  const isFree = sql`${users.used} > 0 and not ${users.weekFrozen} and ${users.weekStart} = ${currentWeekSql(now)}`;
  return sql`${insertSelect(leftWeeks, row, sql`${from} and ${isFree}`)}
    on conflict (${nameOf(leftWeeks.phoneMac)}) do update set ${nameOf(leftWeeks.used)} = ${excluded(leftWeeks.used)},
      ${nameOf(leftWeeks.endsAt)} = ${excluded(leftWeeks.endsAt)}`;
}
