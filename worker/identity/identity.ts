import { and, eq, or, sql, type SQL } from 'drizzle-orm';
import { aliases, claims, identityConflicts, users, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import type { Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { isOwnAlias } from '../lib/bindings.ts';
import { isSpellingOf, type PhoneNumber } from './phone.ts';

type Kind = typeof aliases.$inferSelect.kind;
export type Proof = typeof aliases.$inferSelect.proof;

/**
 * SQL: the id of the user who has a name, or null. An alias that names a number which its user's row does not have is
 * nobody's: whoever may write one row of the database moves no number to another account.
 */
export function userOf(kind: Kind, value: SQL | string): SQL<string | null> {
  const hasNumber = sql`not exists (select 1 from ${users}
    where ${users.id} = ${aliases.userId} and ${users.phone} <> ${aliases.value})`;
  const own = kind === 'phone' ? sql`and ${hasNumber}` : sql``;
  return sql`(select ${aliases.userId} from ${aliases}
    where ${aliases.kind} = ${sql.raw(`'${kind}'`)} and ${aliases.value} = ${value} ${own})`;
}

/** SQL: a user's number as WhatsApp spells it, or null. */
export function spellingOf(userId: SQL): SQL<string | null> {
  return sql`(select ${aliases.value} from ${aliases} where ${aliases.userId} = ${userId} and ${aliases.kind} = 'whatsapp')`;
}

/** A business-scoped id, with what binds it to its number. */
type BoundId = { id: string; mac: string };
type Named = { phone: PhoneNumber; proof: Proof; whatsapp: { id: string | null; proof: Proof } };

/** SQL that gives a number its user's id, if nobody has it, and the user WhatsApp's spelling; a reported one is kept. */
export function nameUser(
  userId: string,
  { phone, proof, whatsapp }: Named,
  now: number,
  when: SQL,
): SQL[] {
  const isReported = sql`excluded.proof = 'contact'`;
  const number = sql`${insertSelect(aliases, { kind: 'phone', value: phone, userId, proof, at: now }, sql`where ${when}`)}
    on conflict (kind, value) do update set proof = excluded.proof, at = excluded.at
      where ${isReported} and ${aliases.proof} = 'token'`;
  const { id, proof: ofSpelling } = whatsapp;
  const row = {
    kind: 'whatsapp',
    value: sql`${id}`,
    userId: userOf('phone', phone),
    proof: ofSpelling,
    at: now,
  } as const;
  const spelling = sql`${insertSelect(aliases, row, sql`where ${id} is not null and ${when}`)}
    on conflict (kind, value) do update set proof = excluded.proof, at = excluded.at
      where ${isReported} and ${aliases.proof} = 'typed' and ${aliases.userId} = excluded.user_id
    on conflict (user_id, kind) do update set value = excluded.value, proof = excluded.proof, at = excluded.at
      where ${isReported}`;
  return [number, spelling];
}

/**
 * SQL that gives a user another number and its spelling as it was typed. Proven by a code, the person may bring the id
 * of the earlier number; moved by support, the number was lost with its id. `business` is the id that was bound to the
 * earlier number: any other one is dropped.
 */
export function renameUser(
  userId: string,
  { phone, proof, whatsapp, business }: Named & { business: BoundId | null },
  now: number,
  when: SQL,
): SQL[] {
  const own = (kind: Kind) => and(eq(aliases.userId, userId), eq(aliases.kind, kind), when)!;
  const spelling = {
    kind: 'whatsapp',
    value: sql`${whatsapp.id}`,
    userId,
    proof: whatsapp.proof,
    at: now,
  } as const;
  const broughtId = proof === 'support' ? null : (business?.id ?? null);
  return [
    sql`delete from ${aliases} where ${own('business')} and value is not ${broughtId}`,
    sql`update ${aliases} set proof = 'earlier-number', bound_mac = ${business?.mac ?? null}
      where ${own('business')}`,
    sql`update ${aliases} set value = ${phone}, proof = ${proof}, at = ${now} where ${own('phone')}`,
    sql`delete from ${aliases} where ${own('whatsapp')}`,
    sql`${insertSelect(aliases, spelling, sql`where ${when}`)} on conflict do nothing`,
  ];
}

export function namesOf(db: Database, userId: string) {
  const { kind, value, proof, at, mac } = aliases;
  return db.select({ kind, value, proof, at, mac }).from(aliases).where(eq(aliases.userId, userId));
}

type Linked = { phone: PhoneNumber; businessUserId: string; mac: string; at: number };

/**
 * SQL that gives the number's user an id, unless another user has it. An id of an earlier number is replaced, and a
 * known pair bound again.
 */
export function linkIdentity({ phone, businessUserId, mac, at }: Linked, when: SQL): SQL {
  const ofPhone = userOf('phone', phone);
  const ofId = userOf('business', businessUserId);
  const row = {
    kind: 'business',
    value: businessUserId,
    userId: sql`${ofPhone}`,
    proof: 'contact',
    at,
    mac,
  } as const;
  const bound = sql`${nameOf(aliases.mac)} = ${excluded(aliases.mac)}`;
  const isTheirs = sql`${ofPhone} is not null and coalesce(${ofId}, ${ofPhone}) = ${ofPhone}`;
  return sql`${insertSelect(aliases, row, sql`where ${and(isTheirs, when)}`)}
    on conflict (kind, value) do update set ${bound}
      where ${aliases.userId} = excluded.user_id and ${aliases.mac} is not ${excluded(aliases.mac)}
    on conflict (user_id, kind) do update set value = excluded.value, proof = excluded.proof,
        at = excluded.at, ${bound}
      where ${aliases.proof} = 'earlier-number'`;
}

/** The number of the user who has an id; throws 404 for an unknown id. */
export async function phoneOfId(
  { db }: { db: Database },
  businessUserId: string,
): Promise<PhoneNumber> {
  const [user] = await db
    .select({ phone: users.phone })
    .from(users)
    .where(eq(users.id, userOf('business', businessUserId)));
  if (!user) throw unknownId();
  return user.phone;
}

export const unknownId = () =>
  new RequestError('notFound', { message: 'Nobody with this id is known' });

export async function exportIdentity({ user, db, settings }: ExportContext) {
  const { at, lastAt } = identityConflicts;
  const names = await namesOf(db, user.id);
  const owned = await Promise.all(names.map((name) => isOwnName(settings, user.phone, name)));
  return {
    identities: names
      .filter((_, index) => owned[index])
      .map(({ kind, value, proof, at: since }) => ({ kind, value, proof, at: since })),
    // Without the other person's id.
    identityConflicts: await db
      .select({ at, lastAt })
      .from(identityConflicts)
      .where(conflictsOf(user.id)),
  };
}

type ExportContext = { user: User; db: Database; settings: Settings };
type Name = { kind: Kind; value: string; mac: string | null };

/** A name that a row gives to somebody else's number is not shown. */
async function isOwnName(settings: Settings, phone: PhoneNumber, { kind, value, mac }: Name) {
  if (kind === 'business') return isOwnAlias(settings, { value, phone, mac });
  return kind === 'phone' ? value === phone : isSpellingOf(phone, value);
}

export function deleteIdentity<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  userId: string,
): void {
  tx.delete(on, aliases, eq(aliases.userId, userId));
  tx.delete(on, identityConflicts, conflictsOf(userId));
  tx.delete(on, claims, eq(claims.userId, userId));
}

const conflictsOf = (userId: string) =>
  or(eq(identityConflicts.userId, userId), eq(identityConflicts.otherUserId, userId));
