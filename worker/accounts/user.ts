import { inArray, sql, type SQL } from 'drizzle-orm';
import { leftWeeks, users, type User } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { currentWeekSql, weekMs } from '../usage/week.ts';
import type { PhoneNumber } from './phone.ts';

type ExportContext = { user: User; db: Database; settings: Settings };
/**
 * What one feature stores about a user, without secrets and hashes; keys are unique across features. Instants are unix
 * ms.
 */
export type ExportSection = (context: ExportContext) => Promise<Record<string, unknown>>;

type Sighting = {
  phone: PhoneNumber;
  /** The number in WhatsApp's spelling, if the caller sent it. */
  whatsappId: string | null;
  /** Used as WhatsApp's spelling until another one is known. */
  assumedWhatsappId: string | null;
  contactedAt: number | null;
};

/**
 * SQL that creates a free user, or records a contact of a known one, where the condition holds. The weeks of a user
 * without a paid plan start at the first contact, or go on where a deleted account of the number left its free week.
 */
export async function upsertUser(sighting: Sighting, settings: Settings, now: number) {
  const { phone, whatsappId, assumedWhatsappId, contactedAt } = sighting;
  const macs = await keyedHashes(settings.CODE_PEPPER, 'left-week', phone);
  const left = (value: SQL) =>
    sql`(select ${value} from ${leftWeeks} where ${inArray(leftWeeks.phoneMac, macs)} and ${leftWeeks.endsAt} > ${now} limit 1)`;
  const weekBegan = sql`coalesce(${left(sql`${leftWeeks.endsAt} - ${weekMs}`)}, ${now})`;
  const row = {
    id: crypto.randomUUID(),
    phone,
    whatsappId: whatsappId ?? assumedWhatsappId,
    status: settings.APPROVAL === 'manual' ? ('pending' as const) : ('approved' as const),
    createdAt: now,
    contactedAt,
    lastContactAt: contactedAt ?? 0,
    weekAnchor: weekBegan,
    weekStart: weekBegan,
    used: sql`coalesce(${left(sql`${leftWeeks.used}`)}, 0)`,
  };
  const firstContact = sql`${users.contactedAt} is null and ${excluded(users.contactedAt)} is not null
    and ${users.renewalAt} is null`;
  return (when: SQL): SQL => sql`${insertSelect(users, row, sql`where ${when}`)}
    on conflict (${nameOf(users.phone)}) do update set
      ${nameOf(users.weekAnchor)} = case when ${firstContact} then ${excluded(users.weekAnchor)} else ${users.weekAnchor} end,
      ${nameOf(users.weekStart)} = case when ${firstContact} then ${excluded(users.weekStart)} else ${users.weekStart} end,
      ${nameOf(users.contactedAt)} = coalesce(${users.contactedAt}, ${excluded(users.contactedAt)}),
      ${nameOf(users.lastContactAt)} = max(${users.lastContactAt}, ${excluded(users.lastContactAt)}),
      ${nameOf(users.whatsappId)} = coalesce(${whatsappId}, ${users.whatsappId}, ${excluded(users.whatsappId)})`;
}

/** SQL that keeps the used free week of the users in `from`, under the hash of their number, until the week ends. */
export async function keepFreeWeek(phone: PhoneNumber, settings: Settings, now: number, from: SQL): Promise<SQL> {
  const [phoneMac] = await keyedHashes(settings.CODE_PEPPER, 'left-week', phone);
  const row = { phoneMac: phoneMac!, used: sql`${users.used}`, endsAt: sql`${users.weekStart} + ${weekMs}` };
  const isFree = sql`${users.used} > 0 and not ${users.weekFrozen} and ${users.weekStart} = ${currentWeekSql(now)}`;
  return sql`${insertSelect(leftWeeks, row, sql`${from} and ${isFree}`)}
    on conflict (${nameOf(leftWeeks.phoneMac)}) do update set ${nameOf(leftWeeks.used)} = ${excluded(leftWeeks.used)},
      ${nameOf(leftWeeks.endsAt)} = ${excluded(leftWeeks.endsAt)}`;
}
