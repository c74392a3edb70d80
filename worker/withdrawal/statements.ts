import { and, asc, desc, eq, inArray, isNull, lte, ne, notInArray, or } from 'drizzle-orm';
import { type Withdrawal, withdrawals } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { isSame } from '../lib/expressions.ts';
import { dayMs } from '../lib/time.ts';
import { sql } from '../lib/sql-text.ts';
import type { ConcludedContract } from './concluded-contract.ts';
import { sumOf } from './payments.ts';
import type { QueuedMail } from './receipt-mail.ts';

export const statementsOf = (db: Database, userId: string) =>
  db
    .select()
    .from(withdrawals)
    .where(eq(withdrawals.userId, userId))
    .orderBy(desc(withdrawals.seq));

/** SQL: statements of an account that are not settled. */
export const openOfSql = (userId: string) =>
  and(eq(withdrawals.userId, userId), inArray(withdrawals.state, ['received', 'refunding']))!;

export async function statementOf(db: Database, id: string): Promise<Withdrawal | undefined> {
  const [row] = await db.select().from(withdrawals).where(eq(withdrawals.id, id));
  return row;
}

/** Its person has not made it. */
export const objected = 'objected';

export const completed = 'completed';

export const restored = 'restored';

/** Another statement has ended its contract. */
export const repeated = 'repeated';

const stopped = [objected, completed, repeated];

/** SQL: nothing has ended the statement. */
export const isUnderWaySql = and(
  inArray(withdrawals.state, ['received', 'refunding', 'done']),
  or(isNull(withdrawals.reason), notInArray(withdrawals.reason, stopped)),
)!;

export async function statementUnderWay(db: Database, id: string): Promise<Withdrawal | undefined> {
  const own = and(eq(withdrawals.id, id), isUnderWaySql);
  const [row] = await db.select().from(withdrawals).where(own);
  return row;
}

export const accountUnknown = 'account_unknown';

/** People's own before strangers', the oldest first. */
export const dueStatements = (db: Database, now: number, limit: number) =>
  db
    .select()
    .from(withdrawals)
    .where(and(lte(withdrawals.dueAt, now), isUnderWaySql))
    .orderBy(asc(withdrawals.origin), asc(withdrawals.dueAt))
    .limit(limit);

/** ms: the law gives 14 days for the money. */
const overdueAfterMs = 3 * dayMs;

export async function overdueStatements(db: Database, now: number): Promise<number[]> {
  const rows = await db
    .select({ seq: withdrawals.seq })
    .from(withdrawals)
    .where(
      and(
        inArray(withdrawals.state, ['received', 'needs_owner']),
        lte(withdrawals.submittedAt, now - overdueAfterMs),
      ),
    )
    .orderBy(isNull(withdrawals.userId), asc(withdrawals.seq))
    .limit(100);
  return rows.map(({ seq }) => seq);
}

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

export type Recorded = { statement: Withdrawal; mail: QueuedMail | undefined };

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
} satisfies Partial<Withdrawal>;

export const waitingPublicOfSql = (userId: string | null) =>
  and(
    eq(withdrawals.userId, sql.param(userId)),
    eq(withdrawals.origin, 'public'),
    eq(withdrawals.state, 'received'),
    isNull(withdrawals.subscription),
  )!;

export function endRepeated(db: Database, { id, userId }: Withdrawal) {
  return db
    .update(withdrawals)
    .set({
      state: 'done',
      reason: repeated,
      refund: 0,
      dueAt: null,
    })
    .where(and(waitingPublicOfSql(userId), ne(withdrawals.id, id)));
}

/** Unless it has changed since it was read. */
export function updateAsRead(db: Database, statement: Withdrawal, changes: Partial<Withdrawal>) {
  const { id, userId, subscription, state, reason } = statement;
  const asRead = and(
    eq(withdrawals.id, id),
    eq(withdrawals.state, state),
    isSame(withdrawals.userId, userId),
    isSame(withdrawals.subscription, subscription),
    isSame(withdrawals.reason, reason),
  );
  return db.update(withdrawals).set(changes).where(asRead);
}

/** Unless it was stopped meanwhile. */
export function updateUnderWay(db: Database, id: string, changes: Partial<Withdrawal>) {
  return db
    .update(withdrawals)
    .set(changes)
    .where(and(eq(withdrawals.id, id), isUnderWaySql));
}
