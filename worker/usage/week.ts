import { and, desc, eq, gt, type SQL } from 'drizzle-orm';
import { leftWeeks, users, type User } from '#db/schema';
import { coalesce, greatest, iif, minus, plus } from '../lib/expressions.ts';
import { build, excluded, isIn, type Value } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { ExportSection, FreeWeek } from '../identity/user-record.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Settings } from '../settings.ts';

export const weekMs = 7 * dayMs;

/**
 * A call that began before the end of a week may be applied
 * after one that began later, or had a later clock.
 */
const latenessMs = minuteMs;

type Weeks = {
  weekAnchor: number;
  weekFrozen: boolean;
  weekStart: number;
};

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

/** When (unix ms) the next week begins; a frozen one also needs a payment. */
export function nextWeek(user: User, now: number): number {
  return currentWeek(user, now) + weekMs;
}

/**
 * The count of the current week, and its end (unix
 * ms); null for a week that does not end by the clock.
 */
export function currentCount(
  user: User,
  now: number,
): {
  used: number;
  resetsAt: number | null;
} {
  const week = currentWeek(user, now);
  return {
    used: week === user.weekStart ? user.used : 0,
    resetsAt: user.weekFrozen ? null : nextWeek(user, now),
  };
}

const [week, lateness] = [weekMs, latenessMs].map((ms) => sql.raw(String(ms)));

/** The same rule as SQL over a row of `users`. */
export function currentWeekSql(now: Value<number>): SQL<number> {
  const { weekAnchor, weekFrozen, weekStart } = users;
  const nowSql = sql`cast(${now} as integer)`;
  const weekAtSql = (at: SQL) =>
    sql`${weekAnchor} + ${week} * (max(0, ${at} - ${weekAnchor}) / ${week})`;
  return sql`(case
    when ${weekFrozen} then ${weekAnchor}
    when ${weekAtSql(sql`${nowSql} + ${lateness}`)} = ${weekStart} then ${weekStart}
    else ${weekAtSql(nowSql)} end)`;
}

export function usedSql(now: Value<number>): SQL<number> {
  return iif(eq(users.weekStart, currentWeekSql(now)), users.used, 0);
}

async function leftWeekOf(owner: WeekOwner) {
  const isTheirs = await isLeftToSql(owner);
  return (value: SQL) =>
    build
      .select({ value })
      .from(leftWeeks)
      .where(isTheirs)
      .orderBy(...greatestFirst)
      .limit(1);
}

const greatestFirst = [desc(leftWeeks.used), desc(leftWeeks.endsAt)];

async function isLeftToSql({ phone, settings, now }: WeekOwner): Promise<SQL | undefined> {
  const macs = await hashesOf(phone, settings);
  return and(isIn(leftWeeks.phoneMac, macs), gt(leftWeeks.endsAt, now));
}

type WeekOwner = {
  phone: PhoneNumber;
  settings: Settings;
  now: number;
};

/**
 * The free week in which a new user of a number begins:
 * the one that a deleted account left, else a new one.
 */
export async function firstWeek(
  phone: PhoneNumber,
  settings: Settings,
  now: number,
): Promise<FreeWeek> {
  const left = await leftWeekOf({ phone, settings, now });
  return {
    began: coalesce(left(minus(leftWeeks.endsAt, weekMs)), now),
    used: coalesce(left(leftWeeks.used.getSQL()), 0),
  };
}

/** The one that was left to the number, else `week`. */
export async function leftWeekOr(owner: WeekOwner, week: Pick<Weeks, 'weekAnchor' | 'weekStart'>) {
  const left = await leftWeekOf(owner);
  const began = () => left(minus(leftWeeks.endsAt, weekMs));
  return {
    weekAnchor: coalesce<number>(began(), week.weekAnchor),
    weekStart: coalesce<number>(began(), week.weekStart),
    used: coalesce<number>(left(leftWeeks.used.getSQL()), 0),
  };
}

export async function leftCountSql(owner: WeekOwner): Promise<SQL<number>> {
  const left = await leftWeekOf(owner);
  return coalesce<number>(left(leftWeeks.used.getSQL()), 0);
}

/**
 * Keeps the count of the user `who` under the hash of their number, until
 * its week ends: whoever has the number next goes on with it.
 */
export async function keepWeek<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  owner: WeekOwner,
  who: SQL,
): Promise<void> {
  const { phone, settings, now } = owner;
  const [phoneMac] = await hashesOf(phone, settings);

  const { used, weekStart } = users;
  const endsAt = plus(weekStart, weekMs);
  const row = {
    phoneMac: phoneMac!,
    used: used.getSQL(),
    endsAt,
  };

  const lasts = and(who, gt(used, 0), gt(endsAt, now));
  tx.insert(on, leftWeeks, row, {
    from: users,
    where: lasts,
    upsert: orGreater(now),
  });
}

/** Keeps for `phone`, too, the week that was left at the number before. */
export async function carryLeftWeek<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  before: WeekOwner,
  phone: PhoneNumber,
): Promise<void> {
  const isTheirs = await isLeftToSql(before);
  const [phoneMac] = await hashesOf(phone, before.settings);

  const { used, endsAt } = leftWeeks;
  const week = build
    .select({ used, endsAt })
    .from(leftWeeks)
    .where(isTheirs)
    .orderBy(...greatestFirst)
    .limit(1)
    .as('theirs');

  const row = {
    phoneMac: phoneMac!,
    used: week.used.getSQL(),
    endsAt: week.endsAt.getSQL(),
  };
  const where = gt(week.used, 0);
  tx.insert(on, leftWeeks, row, {
    from: week,
    where,
    upsert: orGreater(before.now),
  });
}

/** The greater count stands, to the later end. */
function orGreater(now: number) {
  const { phoneMac, used, endsAt } = leftWeeks;
  const greater = greatest(used, excluded(used));
  return {
    target: [phoneMac],
    set: {
      used: iif<number>(gt(endsAt, now), greater, excluded(used)),
      endsAt: greatest(endsAt, excluded(endsAt)),
    },
  };
}

export const exportLeftWeek: ExportSection = async ({ user, db, settings }) => {
  const { phoneMac, used, endsAt } = leftWeeks;
  const macs = await hashesOf(user.phone, settings);
  const rows = await db
    .select({
      used,
      endsAt,
    })
    .from(leftWeeks)
    .where(isIn(phoneMac, macs));
  return { leftWeeks: rows };
};

export async function isLeftWeekOfSql(phone: PhoneNumber, settings: Settings): Promise<SQL> {
  return isIn(leftWeeks.phoneMac, await hashesOf(phone, settings));
}

function hashesOf(phone: PhoneNumber, { CODE_PEPPER }: Settings): Promise<string[]> {
  return keyedHashes(CODE_PEPPER, 'left-week', phone);
}
