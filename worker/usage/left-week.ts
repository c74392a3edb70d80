import { inArray, sql, type SQL } from 'drizzle-orm';
import { leftWeeks, users } from '#db/schema';
import type { FreeWeek } from '../accounts/user-record.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { currentWeekSql, weekMs } from './week.ts';

const hashesOf = (phone: PhoneNumber, { CODE_PEPPER }: Settings) => keyedHashes(CODE_PEPPER, 'left-week', phone);

/** The free week in which a new user of a number begins: the one that a deleted account left, else a new one. */
export async function firstWeek(phone: PhoneNumber, settings: Settings, now: number): Promise<FreeWeek> {
  const macs = await hashesOf(phone, settings);
  const isTheirs = sql`${inArray(leftWeeks.phoneMac, macs)} and ${leftWeeks.endsAt} > ${now}`;
  const left = (value: SQL) => sql`(select ${value} from ${leftWeeks} where ${isTheirs} limit 1)`;
  return {
    began: sql`coalesce(${left(sql`${leftWeeks.endsAt} - ${weekMs}`)}, ${now})`,
    used: sql`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`,
  };
}

/** SQL that keeps the used free week of the user in `from`, under the hash of their number, until the week ends. */
export async function keepFreeWeek(phone: PhoneNumber, settings: Settings, now: number, from: SQL): Promise<SQL> {
  const [phoneMac] = await hashesOf(phone, settings);
  const row = { phoneMac: phoneMac!, used: sql`${users.used}`, endsAt: sql`${users.weekStart} + ${weekMs}` };
  const isFree = sql`${users.used} > 0 and not ${users.weekFrozen} and ${users.weekStart} = ${currentWeekSql(now)}`;
  return sql`${insertSelect(leftWeeks, row, sql`${from} and ${isFree}`)}
    on conflict (${nameOf(leftWeeks.phoneMac)}) do update set ${nameOf(leftWeeks.used)} = ${excluded(leftWeeks.used)},
      ${nameOf(leftWeeks.endsAt)} = ${excluded(leftWeeks.endsAt)}`;
}
