import {
  and,
  eq,
  exists,
  inArray,
  isNotNull,
  ne,
  not,
  or,
  type SQL,
  type SQLWrapper,
} from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { aliases, claims, identityConflicts, users, type User } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { coalesce, isSame, rowExists, valueOf } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { build, excluded, insertSelect, isIn, upsertSelect } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { isOwnAlias } from './bindings.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope } from '../request-scope.ts';
import { isSpellingOf, type PhoneNumber } from './phone.ts';

type Kind = typeof aliases.$inferSelect.kind;
export type Proof = typeof aliases.$inferSelect.proof;
const isOf = (kind: Kind, userId: SQLWrapper | string) =>
  and(eq(aliases.kind, kind), eq(aliases.userId, userId))!;
const names = (kind: Kind, value: SQL | string) =>
  and(eq(aliases.kind, kind), eq(aliases.value, value))!;

const isOfOtherNumber = and(eq(users.id, aliases.userId), ne(users.phone, aliases.value));
const number = alias(aliases, 'number');
const isBoundToNumber = build
  .select({ mac: number.mac })
  .from(number)
  .where(
    and(eq(number.userId, aliases.userId), eq(number.kind, 'phone'), eq(number.mac, aliases.mac)),
  );

/**
 * What else the database must say: a number is a user's only if the user's
 * row has it, too, and an id only if the user's number is bound to it.
 * Whoever may write one row moves no name to another account.
 */
const agrees: Partial<Record<Kind, SQL>> = {
  phone: not(rowExists(users, isOfOtherNumber)),
  business: exists(isBoundToNumber),
};

export const userOf = (kind: Kind, value: SQL | string): SQL<string | null> =>
  valueOf(aliases.userId, and(names(kind, value), agrees[kind]));

export const spellingOf = (userId: SQL) => valueOf(aliases.value, isOf('whatsapp', userId));

/** SQL: a number that came with another id may have a new owner. */
export const isContested = (phone: PhoneNumber): SQL<number> =>
  rowExists(aliases, and(names('phone', phone), eq(aliases.proof, 'contested')));

export const isAccountContested = (userId: SQLWrapper): SQL<number> =>
  rowExists(aliases, and(isOf('phone', userId), eq(aliases.proof, 'contested')));

type BoundId = { id: string; mac: string };
type Named = {
  phone: PhoneNumber;
  proof: Proof;
  whatsapp: { id: string | null; proof: Proof };
};

const isReported = eq(excluded(aliases.proof), 'contact');
const newer = {
  proof: excluded(aliases.proof),
  at: excluded(aliases.at),
};

/** Names nobody else's number or spelling; a reported spelling is kept. */
export function nameUser<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: string,
  { phone, proof, whatsapp, at }: Named & { at: number },
): void {
  const { kind, value } = aliases;
  const ofToken = and(isReported, eq(aliases.proof, 'token'));
  const row = {
    kind: 'phone',
    value: phone,
    userId,
    proof,
    at,
  } as const;
  tx.insert(on, aliases, row, {
    upsert: { target: [kind, value], set: newer, where: ofToken },
  });
  if (whatsapp.id === null) return;

  const spelling = {
    kind: 'whatsapp',
    value: whatsapp.id,
    userId: userOf('phone', phone),
    proof: whatsapp.proof,
    at,
  } as const;
  const isTyped = eq(aliases.proof, 'typed');
  const isTheirs = eq(aliases.userId, excluded(aliases.userId));
  tx.insert(on, aliases, spelling, {
    upsert: [
      { target: [kind, value], set: newer, where: and(isReported, isTyped, isTheirs) },
      {
        target: [aliases.userId, kind],
        set: { value: excluded(value), ...newer },
        where: isReported,
      },
    ],
  });
}

/**
 * SQL that gives a user another number and its spelling as it was typed.
 * Proven by a code, the person may bring the id of the earlier number;
 * moved by support, the number was lost with its id. `business` is the id
 * that was bound to the earlier number: any other one is dropped.
 */
export function renameUser(
  userId: string,
  { phone, proof, whatsapp, business }: Named & { business: BoundId | null },
  now: number,
  when: SQL,
): SQL[] {
  const own = (kind: Kind) => and(isOf(kind, userId), when)!;
  const brought = proof === 'support' ? null : business;
  const isAnother = not(isSame(aliases.value, brought?.id ?? null));
  const mac = brought?.mac ?? null;
  const change = (kind: Kind, set: Partial<typeof aliases.$inferInsert>) =>
    build.update(aliases).set(set).where(own(kind)).getSQL();
  const remove = (where: SQL | undefined) => build.delete(aliases).where(where).getSQL();
  const spelling = {
    kind: 'whatsapp',
    value: whatsapp.id!,
    userId,
    proof: whatsapp.proof,
    at: now,
  } as const;

  return [
    remove(and(own('business'), isAnother)),
    change('business', { proof: 'earlier-number', mac }),
    change('phone', { value: phone, proof, at: now, mac }),
    remove(own('whatsapp')),
    upsertSelect(insertSelect(aliases, spelling, sql`where ${when}`), aliases, 'ignore'),
  ];
}

/** The names of a user, each beside the number of the user's own row. */
export function namesOf(db: Database, userId: string) {
  const { kind, value, proof, at, mac } = aliases;
  return db
    .select({ kind, value, proof, at, mac, phone: users.phone })
    .from(aliases)
    .innerJoin(users, eq(users.id, aliases.userId))
    .where(eq(aliases.userId, userId));
}

type Linked = {
  phone: PhoneNumber;
  businessUserId: string;
  mac: string;
  at: number;
};

/**
 * Gives the number's user an id, unless another user has it. An id of an
 * earlier number is replaced, and a known pair bound again.
 */
export function linkIdentity<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { phone, businessUserId, mac, at }: Linked,
): void {
  const ofPhone = userOf('phone', phone);
  const ofId = valueOf(aliases.userId, names('business', businessUserId));
  const row = {
    kind: 'business',
    value: businessUserId,
    userId: ofPhone,
    proof: 'contact',
    at,
    mac,
  } as const;
  const { kind, value, userId } = aliases;
  const bound = { mac: excluded(aliases.mac) };
  const isTheirOwn = eq(userId, excluded(userId));
  const isRebound = not(isSame(aliases.mac, excluded(aliases.mac)));
  const isTheirs = and(isNotNull(ofPhone), eq(coalesce(ofId, ofPhone), ofPhone));
  tx.insert(on, aliases, row, {
    where: isTheirs,
    upsert: [
      { target: [kind, value], set: bound, where: and(isTheirOwn, isRebound) },
      {
        target: [userId, kind],
        set: { value: excluded(value), ...newer, ...bound },
        where: eq(aliases.proof, 'earlier-number'),
      },
    ],
  });
  bindNumber(tx, on, { businessUserId, mac });
}

/** Binds a number to the id that was bound to this very number. */
export function bindNumber<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  bound: { businessUserId: string; mac: string },
): void {
  tx.update(on, aliases, { mac: bound.mac }, unboundNumberOf(bound));
}

function unboundNumberOf({ businessUserId, mac }: { businessUserId: string; mac: string }) {
  const business = alias(aliases, 'business');
  const holder = build
    .select({ userId: business.userId })
    .from(business)
    .where(
      and(eq(business.kind, 'business'), eq(business.value, businessUserId), eq(business.mac, mac)),
    );
  const isUnbound = not(isSame(aliases.mac, mac));
  return and(eq(aliases.kind, 'phone'), inArray(aliases.userId, holder), isUnbound);
}

/** Throws 404 for an unknown id. */
export async function phoneOfId({ db }: Scope<'db'>, businessUserId: string): Promise<PhoneNumber> {
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
      .map(({ kind, value, proof, at: since }) => ({
        kind,
        value,
        proof,
        at: since,
      })),
    // Without the other person's id.
    identityConflicts: await db
      .select({ at, lastAt })
      .from(identityConflicts)
      .where(conflictsOf(user.id, await ownMacs(settings, names))),
  };
}

export async function ownMacs(
  settings: Pick<Settings, 'CODE_PEPPER'>,
  known: { kind: Kind; value: string }[],
): Promise<string[]> {
  const id = known.find(({ kind }) => kind === 'business')?.value;
  return id === undefined ? [] : conflictMacs(settings, id);
}

type ExportContext = Scope<'db' | 'settings'> & { user: User };
type Name = { kind: Kind; value: string; mac: string | null };

/** A name that a row gives to somebody else's number is not shown. */
async function isOwnName(settings: Settings, phone: PhoneNumber, { kind, value, mac }: Name) {
  if (kind === 'business') return isOwnAlias(settings, { value, phone, mac });
  return kind === 'phone' ? value === phone : isSpellingOf(phone, value);
}

/** `idMacs` from `conflictMacs`, of the user's own id. */
export function deleteIdentity<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: string,
  idMacs: string[],
): void {
  tx.delete(on, identityConflicts, conflictsOf(userId, idMacs));
  tx.delete(on, aliases, eq(aliases.userId, userId));
  tx.delete(on, claims, eq(claims.userId, userId));
}

/** The conflicts of both people, also of one who got the id later. */
const conflictsOf = (userId: string, idMacs: string[]) =>
  or(
    eq(identityConflicts.userId, userId),
    eq(identityConflicts.otherUserId, userId),
    isIn(identityConflicts.idMac, idMacs),
  );

export const conflictMacs = ({ CODE_PEPPER }: Pick<Settings, 'CODE_PEPPER'>, id: string) =>
  keyedHashes(CODE_PEPPER, 'conflict', id);
