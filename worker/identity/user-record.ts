import { and, isNotNull, isNull, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { users, type User } from '#db/schema';
import { coalesce, greatest, iif } from '../lib/expressions.ts';
import { excluded } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { nameUser } from './name-user.ts';
import { userOfSql, type Proof } from './aliases.ts';
import type { PhoneNumber } from './phone.ts';

type ExportScope = Scope<'db' | 'settings'> & { user: User };
/** Without secrets. Instants are unix ms. */
export type ExportSection = (scope: ExportScope) => Promise<Record<string, unknown>>;

/** SQL: its start (unix ms), and its messages. */
export type FreeWeek = { began: SQL; used: SQL };

type Sighting = {
  id?: string;
  phone: PhoneNumber;
  proof: Proof;
  whatsappId: string | null;
  assumedWhatsappId: string | null;
  contactedAt: number | null;
  firstWeek: FreeWeek;
};

export function upsertUser<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  sighting: Sighting,
  { settings, now }: Scope<'settings' | 'now'>,
): void {
  const { phone, whatsappId, assumedWhatsappId, contactedAt, firstWeek, proof } = sighting;
  const newId = sighting.id ?? crypto.randomUUID();
  const spelling = whatsappId ?? assumedWhatsappId;
  const whatsapp = {
    id: spelling,
    proof: whatsappId === null ? 'typed' : 'contact',
  } as const;

  nameUser(tx, on, newId, { phone, proof, whatsapp, at: now });

  const id = userOfSql('phone', phone);
  const row = {
    id,
    phone,
    status:
      settings.require('APPROVAL') === 'manual' ? ('pending' as const) : ('approved' as const),
    createdAt: now,
    contactedAt,
    lastContactAt: contactedAt ?? 0,
    weekAnchor: firstWeek.began,
    weekStart: firstWeek.began,
    used: firstWeek.used,
  };

  const isFirstContact = and(
    isNull(users.contactedAt),
    isNotNull(excluded(users.contactedAt)),
    isNull(users.renewalAt),
  );
  const begins = (column: SQLiteColumn) => iif(isFirstContact, excluded(column), column);

  tx.insert(on, users, row, {
    // An alias that belongs to nobody creates nobody.
    where: isNotNull(id),
    upsert: {
      target: [users.id],
      set: {
        weekAnchor: begins(users.weekAnchor),
        weekStart: begins(users.weekStart),
        contactedAt: coalesce(users.contactedAt, excluded(users.contactedAt)),
        lastContactAt: greatest(users.lastContactAt, excluded(users.lastContactAt)),
      },
    },
  });
}
