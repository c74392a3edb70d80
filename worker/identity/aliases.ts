import { and, eq, exists, ne, not, type SQL, type SQLWrapper } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { aliases, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { rowExists, valueOf } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { build } from '../lib/sql.ts';
import type { Scope } from '../request-scope.ts';
import type { PhoneNumber } from './phone.ts';

/*
 * The names of a user: the number (`phone`), WhatsApp's spelling of it
 * (`whatsapp`), and the business-scoped id (`business`), at most one of
 * each. What a new proof does:
 *
 * - `phone`: `contact` replaces `token`; a change of number, all.
 * - `whatsapp`: `contact` replaces `typed`, and another spelling.
 * - `business`: is bound to the user's number; another one replaces
 *   that of an `earlier-number` alone.
 *
 * A name of another user is never replaced, nor the id of a number that
 * is contested (`contest.ts`).
 */

export type AliasKind = typeof aliases.$inferSelect.kind;
export type Proof = typeof aliases.$inferSelect.proof;

export const isOfSql = (kind: AliasKind, userId: SQLWrapper | string) =>
  and(eq(aliases.kind, kind), eq(aliases.userId, userId))!;

export const hasNameSql = (kind: AliasKind, value: SQL | string) =>
  and(eq(aliases.kind, kind), eq(aliases.value, value))!;

const isOfOtherNumber = and(eq(users.id, aliases.userId), ne(users.phone, aliases.value));
const number = alias(aliases, 'number');
const isBoundToNumber = build
  .select({ bindingMac: number.bindingMac })
  .from(number)
  .where(
    and(
      eq(number.userId, aliases.userId),
      eq(number.kind, 'phone'),
      eq(number.bindingMac, aliases.bindingMac),
    ),
  );

/** One row moves no name to another account. */
const agrees: Partial<Record<AliasKind, SQL>> = {
  phone: not(rowExists(users, isOfOtherNumber)),
  business: exists(isBoundToNumber),
};

export const userOfSql = (kind: AliasKind, value: SQL | string): SQL<string | null> =>
  valueOf(aliases.userId, and(hasNameSql(kind, value), agrees[kind]));

export const spellingOfSql = (userId: SQL) => valueOf(aliases.value, isOfSql('whatsapp', userId));

export function namesOf(db: Database, userId: string) {
  const { kind, value, proof, at, bindingMac } = aliases;
  return db
    .select({ kind, value, proof, at, bindingMac, phone: users.phone })
    .from(aliases)
    .innerJoin(users, eq(users.id, aliases.userId))
    .where(eq(aliases.userId, userId));
}

/** Throws 404 for an unknown id. */
export async function phoneOfId({ db }: Scope<'db'>, businessUserId: string): Promise<PhoneNumber> {
  const [user] = await db
    .select({ phone: users.phone })
    .from(users)
    .where(eq(users.id, userOfSql('business', businessUserId)));
  if (!user) throw unknownId();
  return user.phone;
}

export const unknownId = () =>
  new RequestError('notFound', { message: 'Nobody with this id is known' });
