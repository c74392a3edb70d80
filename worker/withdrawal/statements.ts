import { and, asc, desc, eq, inArray, isNull, lte, ne, notInArray, or, sql } from 'drizzle-orm';
import { type Withdrawal, withdrawals } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { dayMs } from '../lib/time.ts';
import type { ConcludedContract } from './concluded-contract.ts';
import { sumOf } from './payments.ts';
import type { QueuedMail } from './receipt-mail.ts';

export type Statement = Withdrawal;

export const statementsOf = (db: Database, userId: string) =>
  db
    .select()
    .from(withdrawals)
    .where(eq(withdrawals.userId, userId))
    .orderBy(desc(withdrawals.seq));

export async function statementOf(db: Database, id: string): Promise<Statement | undefined> {
  const [row] = await db.select().from(withdrawals).where(eq(withdrawals.id, id));
  return row;
}

/** The reason of a statement that its person has not made. */
export const objected = 'objected';

/** The reason of a statement that the owner has ended by hand. */
export const completed = 'completed';

/** The reason of a statement that was open at the time to which the database was put back. */
export const restored = 'restored';

/** The reason of a statement whose contract another one has ended. */
export const repeated = 'repeated';

/** The reasons of statements that go on no more. */
const stopped = [objected, completed, repeated];

/** SQL: nobody has objected to the statement, and neither the owner nor another statement has ended it. */
export const isUnderWay = and(
  inArray(withdrawals.state, ['received', 'refunding', 'done']),
  or(isNull(withdrawals.reason), notInArray(withdrawals.reason, stopped)),
)!;

/** The statement as it is now, if it still goes on by itself. */
export async function statementUnderWay(db: Database, id: string): Promise<Statement | undefined> {
  const own = and(eq(withdrawals.id, id), isUnderWay);
  const [row] = await db.select().from(withdrawals).where(own);
  return row;
}

/** The reason of a statement that belongs to no account. */
export const accountUnknown = 'account_unknown';

/** Statements that the cron job goes on with: strangers' after people's own, the oldest first. */
export const dueStatements = (db: Database, now: number, limit: number) =>
  db
    .select()
    .from(withdrawals)
    .where(and(lte(withdrawals.dueAt, now), isUnderWay))
    .orderBy(asc(withdrawals.origin), asc(withdrawals.dueAt))
    .limit(limit);

/** Statements that wait for longer than this (ms) are reported: the law gives 14 days for the money. */
const patienceMs = 3 * dayMs;

/** Numbers of statements that nobody and nothing has settled for three days: first those of an account. */
export async function overdueStatements(db: Database, now: number): Promise<number[]> {
  const rows = await db
    .select({ seq: withdrawals.seq })
    .from(withdrawals)
    .where(
      and(
        inArray(withdrawals.state, ['received', 'needs_owner']),
        lte(withdrawals.submittedAt, now - patienceMs),
      ),
    )
    .orderBy(isNull(withdrawals.userId), asc(withdrawals.seq))
    .limit(100);
  return rows.map(({ seq }) => seq);
}

/** The columns of a statement that name its contract. */
export function contractColumns(contract: ConcludedContract, at: number) {
  return {
    billedAt: at,
    subscription: contract.subscription,
    tier: contract.tier,
    concludedAt: contract.concludedAt,
    startNow: contract.startNow,
    currency: contract.currency,
    refund: sumOf(contract.payments, 'refund'),
  };
}

/** A statement, and the mail to the address that was given with it. */
export type Kept = { statement: Statement; mail: QueuedMail | undefined };

/** A statement of which nothing is known but what was stated. */
export const unsettled = {
  seq: 0,
  userId: null,
  name: null,
  plan: null,
  email: null,
  billedAt: null,
  subscription: null,
  tier: null,
  concludedAt: null,
  startNow: null,
  currency: null,
  refund: null,
  state: 'received',
  reason: null,
  dueAt: null,
  attempts: 0,
  announcedAt: null,
} satisfies Partial<Statement>;

/**
 * SQL: statements about this account that somebody has made without
 * signing in, and that nothing has begun; none about an unknown one.
 */
export const openPublicOf = (userId: string | null) =>
  and(
    eq(withdrawals.userId, sql.param(userId)),
    eq(withdrawals.origin, 'public'),
    eq(withdrawals.state, 'received'),
    isNull(withdrawals.subscription),
  )!;

/** A statement ends the other ones of the account that wait: each means the same contract. */
export function endRepeated(db: Database, { id, userId }: Statement) {
  return db
    .update(withdrawals)
    .set({ state: 'done', reason: repeated, refund: 0, dueAt: null })
    .where(and(openPublicOf(userId), ne(withdrawals.id, id)));
}

/** Changes a statement, whatever its state. */
export function updateStatement(db: Database, id: string, changes: Partial<Statement>) {
  return db.update(withdrawals).set(changes).where(eq(withdrawals.id, id));
}

/** As `updateStatement`, unless somebody has stopped the statement meanwhile. */
export function updateUnderWay(db: Database, id: string, changes: Partial<Statement>) {
  return db
    .update(withdrawals)
    .set(changes)
    .where(and(eq(withdrawals.id, id), isUnderWay));
}
