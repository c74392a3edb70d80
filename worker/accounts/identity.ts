import { and, eq, or, sql, type SQL } from 'drizzle-orm';
import { aliases, identityConflicts, users, type User } from '#db/schema';
import { applyOnce, idempotentStatements, isFirstCall } from '../bot/incoming-call.ts';
import type { Database } from '../lib/database.ts';
import { memoize } from '../lib/memoize.ts';
import { RequestError } from '../lib/request-error.ts';
import { insertSelect, prepared, type Prepared, type Value } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { isOwnAlias } from '../lib/bindings.ts';
import { isSpellingOf, type PhoneNumber } from './phone.ts';

type Kind = typeof aliases.$inferSelect.kind;
export type Proof = typeof aliases.$inferSelect.proof;

/**
 * SQL: the id of the user who has a name, or null. An alias that names a number which its user's row does not have is
 * nobody's: whoever may write one row of the database moves no number to another account.
 */
export function userOf(kind: Kind, value: SQL | Value<string>): SQL<string | null> {
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
) {
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
  return { number, spelling };
}

/**
 * SQL that gives a user another number and its spelling as it was typed. Proven by a code, the person may bring the id
 * of the earlier number; moved by support, the number was lost with its id.
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
  return [
    proof === 'support'
      ? sql`delete from ${aliases} where ${own('business')}`
      : sql`update ${aliases} set proof = 'earlier-number',
          bound_mac = case when value = ${business?.id ?? null} then ${business?.mac ?? null} end
          where ${own('business')}`,
    sql`update ${aliases} set value = ${phone}, proof = ${proof}, at = ${now} where ${own('phone')}`,
    sql`delete from ${aliases} where ${own('whatsapp')}`,
    sql`${insertSelect(aliases, spelling, sql`where ${when}`)} on conflict do nothing`,
  ];
}

/** SQL that gives a user the id that claimed the number, unless somebody has the id by now. */
export function linkClaimed(userId: string, { id, mac }: BoundId, now: number, when: SQL): SQL {
  const row = { kind: 'business', value: id, userId, proof: 'claim', at: now, mac } as const;
  return sql`${insertSelect(aliases, row, sql`where ${when}`)} on conflict do nothing`;
}

export function namesOf(db: Database, userId: string) {
  const { kind, value, proof, at, mac } = aliases;
  return db.select({ kind, value, proof, at, mac }).from(aliases).where(eq(aliases.userId, userId));
}

/** How a call of the bot names a person: by the number, by the business-scoped id, or by both. */
export type Person = { phone?: PhoneNumber | undefined; businessUserId?: string | undefined };
type Form = 'phone' | 'businessUserId' | 'both';

const [phone, businessUserId] = [sql.placeholder('phone'), sql.placeholder('businessUserId')];

const userOfPhone = userOf('phone', phone);
const userOfId = userOf('business', businessUserId);

/** SQL: whether the number's user has another id, which is not of an earlier number. */
const hasAnotherId = sql`exists (select 1 from ${aliases} where ${aliases.userId} = ${userOfPhone} and ${aliases.kind} = 'business'
  and ${aliases.value} <> ${businessUserId} and ${aliases.proof} <> 'earlier-number')`;

/** SQL: whether number and id are of two people. An unknown id of a number with another id means a new owner. */
const isConflict = sql`coalesce(${userOfPhone} <> ${userOfId} or (${userOfId} is null and ${hasAnotherId}), 0)`;

const recordConflict = sql`insert into ${identityConflicts} (business_user_id, user_id, other_user_id, at, last_at)
  select ${businessUserId}, ${userOfPhone}, ${userOfId}, ${sql.placeholder('now')}, ${sql.placeholder('now')} where ${isConflict}
  on conflict do update set other_user_id = excluded.other_user_id, last_at = excluded.last_at returning user_id`;

/** SQL: a condition on `users` that holds for the person alone. */
const conditions: Record<Form, SQL> = {
  phone: sql`${users.id} = ${userOfPhone}`,
  businessUserId: sql`${users.id} = ${userOfId}`,
  both: sql`${users.id} = coalesce(${userOfPhone}, ${userOfId})`,
};

function formOf({ phone, businessUserId }: Person): Form {
  if (phone !== undefined && businessUserId !== undefined) return 'both';
  return phone === undefined ? 'businessUserId' : 'phone';
}

type Parts<Name extends string> = { response: SQL; effects?: Record<Name, SQL> };
type Statements<Name extends string> = Record<'claim' | Name, Prepared>;
type StatementsOf<Name extends string> = (form: Form) => Statements<Name>;

/** The statements of a call for each way to name a person. A conflict of two names is recorded, and nothing applied. */
export function personStatements<Name extends string = never>(
  parts: (own: SQL) => Parts<Name>,
): StatementsOf<Name> {
  return memoize((form: Form) => {
    const { response, effects } = parts(conditions[form]);
    if (form === 'phone') return idempotentStatements(response, effects);
    const named = { alias: prepared(aliasOfId) };
    if (form !== 'both') return { ...named, ...idempotentStatements(response, effects) };
    const guarded = sql`select answer from (${response}) where not ${isConflict}`;
    const conflict = prepared(recordConflict);
    return { ...named, conflict, ...idempotentStatements(guarded, effects) };
  });
}

/** SQL: the number of the user who has an id, and what binds the two. */
const aliasOfId = sql`select ${users.phone} as phone, ${aliases.mac} as mac
  from ${aliases} join ${users} on ${users.id} = ${aliases.userId}
  where ${aliases.kind} = 'business' and ${aliases.value} = ${businessUserId}`;

type AliasRow = { phone: PhoneNumber; mac: string | null };
type CallContext = Parameters<typeof applyOnce>[0] & { settings: Pick<Settings, 'CODE_PEPPER'> };

/** As `applyOnce` for the person whom a call names; throws 409 if the two names are of two people. */
export async function applyToPerson<Result, Name extends string = never>(
  context: CallContext,
  { phone, businessUserId }: Person,
  statementsOf: StatementsOf<Name>,
  values: Record<string, unknown> = {},
): Promise<{ response: Result | null; rows: Record<Name, unknown[]> }> {
  const statements = statementsOf(formOf({ phone, businessUserId }));
  const named = { ...values, phone, businessUserId };
  const { response, rows } = await applyOnce<Result, Name>(context, statements, named);
  const { conflict = [], alias = [] } = rows as { conflict?: unknown[]; alias?: AliasRow[] };
  if (conflict.length > 0) {
    throw new RequestError('conflict', {
      message: 'phone and businessUserId belong to two people',
    });
  }
  const [found] = alias;
  // A call that names both binds the two (`linkIdentity`).
  const isById = phone === undefined || found?.phone !== phone;
  if (
    found &&
    isById &&
    !(await isOwnAlias(context.settings, { ...found, value: businessUserId! }))
  )
    throw unknownId();
  return { response, rows };
}

export const mayOwnPhone = sql`(${userOfPhone} is not null or ${userOfId} is null)`;

/**
 * SQL that gives the number's user the id of the call, unless another user has the id. An id of an earlier number is
 * replaced, and a known pair bound again.
 */
export const linkIdentity = (mac: string) => sql`
  insert into ${aliases} (kind, value, user_id, proof, at, bound_mac)
  select 'business', ${businessUserId}, ${userOfPhone}, 'contact', ${sql.placeholder('now')}, ${mac}
  where ${userOfPhone} is not null and coalesce(${userOfId}, ${userOfPhone}) = ${userOfPhone}
    and ${isFirstCall}
  on conflict (kind, value) do update set bound_mac = excluded.bound_mac
    where ${aliases.userId} = excluded.user_id and ${aliases.mac} is not excluded.bound_mac
  on conflict (user_id, kind) do update set value = excluded.value, proof = excluded.proof,
      at = excluded.at, bound_mac = excluded.bound_mac
    where ${aliases.proof} = 'earlier-number'`;

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

const unknownId = () => new RequestError('notFound', { message: 'Nobody with this id is known' });

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

export function deleteIdentity(userId: SQL): SQL[] {
  return [
    sql`delete from ${aliases} where ${eq(aliases.userId, userId)}`,
    sql`delete from ${identityConflicts} where ${conflictsOf(userId)}`,
  ];
}

const conflictsOf = (userId: string | SQL) =>
  or(eq(identityConflicts.userId, userId), eq(identityConflicts.otherUserId, userId));
