import { sql, type SQL } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { build, excluded, insertSelect, nameOf } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { nameUser, userOf, type Proof } from './identity.ts';
import type { PhoneNumber } from './phone.ts';

type ExportContext = { user: User; db: Database; settings: Settings };
/** What one feature stores about a user, without secrets; keys are unique across features. Instants are unix ms. */
export type ExportSection = (context: ExportContext) => Promise<Record<string, unknown>>;

/** SQL: the start (unix ms) of a free week, and the messages used in it. */
export type FreeWeek = { began: SQL; used: SQL };

export function recordContact(own: SQL, now: number): SQL {
  return build
    .update(users)
    .set({ lastContactAt: sql`max(${users.lastContactAt}, ${now})` })
    .where(own)
    .getSQL();
}

type Sighting = {
  id?: string;
  phone: PhoneNumber;
  proof: Proof;
  whatsappId: string | null;
  /** Used as WhatsApp's spelling until another one is known. */
  assumedWhatsappId: string | null;
  contactedAt: number | null;
  firstWeek: FreeWeek;
};

/** SQL that creates a free user, or records a known one's contact. The free week of a deleted account goes on. */
export function upsertUser(sighting: Sighting, settings: Settings, now: number) {
  const { phone, whatsappId, assumedWhatsappId, contactedAt, firstWeek, proof } = sighting;
  const newId = sighting.id ?? crypto.randomUUID();
  const spelling = whatsappId ?? assumedWhatsappId;
  const whatsapp = { id: spelling, proof: whatsappId === null ? 'typed' : 'contact' } as const;
  const row = {
    id: userOf('phone', phone),
    phone,
    status: settings.APPROVAL === 'manual' ? ('pending' as const) : ('approved' as const),
    createdAt: now,
    contactedAt,
    lastContactAt: contactedAt ?? 0,
    weekAnchor: firstWeek.began,
    weekStart: firstWeek.began,
    used: firstWeek.used,
  };
  const firstContact = sql`${users.contactedAt} is null and ${excluded(users.contactedAt)} is not null
    and ${users.renewalAt} is null`;
  return (when: SQL) => ({
    ...nameUser(newId, { phone, proof, whatsapp }, now, when),
    // An alias that belongs to nobody creates nobody.
    account: sql`${insertSelect(users, row, sql`where ${row.id} is not null and ${when}`)}
    on conflict (${nameOf(users.id)}) do update set
      ${nameOf(users.weekAnchor)} = case when ${firstContact} then ${excluded(users.weekAnchor)} else ${users.weekAnchor} end,
      ${nameOf(users.weekStart)} = case when ${firstContact} then ${excluded(users.weekStart)} else ${users.weekStart} end,
      ${nameOf(users.contactedAt)} = coalesce(${users.contactedAt}, ${excluded(users.contactedAt)}),
      ${nameOf(users.lastContactAt)} = max(${users.lastContactAt}, ${excluded(users.lastContactAt)})`,
  });
}
