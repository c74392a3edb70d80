import { eq, or, sql, type SQL } from 'drizzle-orm';
import { identities, identityConflicts, users, type User } from '#db/schema';
import { applyOnce, idempotentStatements, isFirstCall } from '../bot/bot-call.ts';
import type { Database } from '../lib/database.ts';
import { memoize } from '../lib/memoize.ts';
import { RequestError } from '../lib/request-error.ts';
import { prepared, type Prepared } from '../lib/sql.ts';
import type { PhoneNumber } from './phone.ts';

/** How a call of the bot names a person: by the number, by the business-scoped id, or by both. */
export type Person = { phone?: PhoneNumber | undefined; businessUserId?: string | undefined };
type Form = 'phone' | 'businessUserId' | 'both';

const [phone, businessUserId] = [sql.placeholder('phone'), sql.placeholder('businessUserId')];

const userOfPhone = sql`(select ${users.id} from ${users} where ${users.phone} = ${phone})`;
const userOfId = sql`(select ${identities.userId} from ${identities} where ${identities.businessUserId} = ${businessUserId})`;

/** SQL: whether the number's user has another id, which is not of an earlier number. */
const hasAnotherId = sql`exists (select 1 from ${identities} where ${identities.userId} = ${userOfPhone}
  and ${identities.businessUserId} <> ${businessUserId} and ${identities.proof} <> 'earlier-number')`;

/** SQL: whether number and id are of two people. An unknown id of a number with another id means a new owner. */
const isConflict = sql`coalesce(${userOfPhone} <> ${userOfId} or (${userOfId} is null and ${hasAnotherId}), 0)`;

const recordConflict = sql`insert into ${identityConflicts} (business_user_id, user_id, other_user_id, at, last_at)
  select ${businessUserId}, ${userOfPhone}, ${userOfId}, ${sql.placeholder('now')}, ${sql.placeholder('now')} where ${isConflict}
  on conflict do update set other_user_id = excluded.other_user_id, last_at = excluded.last_at returning user_id`;

/** SQL: a condition on `users` that holds for the person alone. */
const conditions: Record<Form, SQL> = {
  phone: sql`${users.phone} = ${phone}`,
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
export function personStatements<Name extends string = never>(parts: (own: SQL) => Parts<Name>): StatementsOf<Name> {
  return memoize((form: Form) => {
    const { response, effects } = parts(conditions[form]);
    if (form !== 'both') return idempotentStatements(response, effects);
    const guarded = sql`select answer from (${response}) where not ${isConflict}`;
    return { conflict: prepared(recordConflict), ...idempotentStatements(guarded, effects) };
  });
}

type CallContext = Parameters<typeof applyOnce>[0];

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
  const { conflict = [] } = rows as { conflict?: unknown[] };
  if (conflict.length > 0) {
    throw new RequestError('conflict', { message: 'phone and businessUserId belong to two people' });
  }
  return { response, rows };
}

export const mayOwnPhone = sql`(${userOfPhone} is not null or ${userOfId} is null)`;

/** SQL that gives the number's user the id of the call, unless the id is known. An id of an earlier number is replaced. */
export const linkIdentity = sql`insert into ${identities} (business_user_id, user_id, proof, at)
  select ${businessUserId}, ${users.id}, 'contact', ${sql.placeholder('now')} from ${users}
  where ${users.phone} = ${phone} and ${userOfId} is null and ${isFirstCall}
  on conflict (user_id) do update set business_user_id = excluded.business_user_id, proof = excluded.proof,
    at = excluded.at where ${identities.proof} = 'earlier-number'`;

/** The number of the user who has an id; throws 404 for an unknown id. */
export async function phoneOfId({ db }: { db: Database }, businessUserId: string): Promise<PhoneNumber> {
  const [user] = await db
    .select({ phone: users.phone })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(eq(identities.businessUserId, businessUserId));
  if (!user) throw new RequestError('notFound', { message: 'Nobody with this id is known' });
  return user.phone;
}

export async function exportIdentity({ user, db }: { user: User; db: Database }) {
  const { businessUserId, proof, at } = identities;
  const rows = await db.select({ businessUserId, proof, at }).from(identities).where(eq(identities.userId, user.id));
  return { identities: rows };
}

export function deleteIdentity(userId: SQL): SQL[] {
  const own = or(eq(identityConflicts.userId, userId), eq(identityConflicts.otherUserId, userId));
  return [
    sql`delete from ${identities} where ${eq(identities.userId, userId)}`,
    sql`delete from ${identityConflicts} where ${own}`,
  ];
}
