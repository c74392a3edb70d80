import { and, eq, gt, lte, not, type SQL } from 'drizzle-orm';
import { customers, users, type User } from '#db/schema';
import { apiErrors } from '../contract/errors.ts';
import { batch, type Database } from '../lib/database.ts';
import { iif, plus, rowExists } from '../lib/expressions.ts';
import { insertSelect, upsertSelect } from '../lib/sql.ts';
import { RequestError } from '../lib/request-error.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope } from '../request-scope.ts';
import { pauseAfter } from './sync-times.ts';
import { StripeRefused, StripeUnavailable } from './stripe-client.ts';

const leaseMs = 45_000;
const acquireTimeoutMs = 15_000;
const firstPauseMs = 1000;
const longestRetryPauseMs = 2000;

export type Customer = typeof customers.$inferSelect;
/** Only the holder updates the customer. */
export type LeasedCustomer = {
  token: string;
  customer: Customer;
  user: User;
};
export type CustomerChanges = { [Column in keyof Customer]?: Customer[Column] | SQL };
export type Release = Transaction<'released' | 'lost', unknown>;
/**
 * The lease is released with `changes` and `effects`
 * in one transaction, unless the work has `released` it.
 */
export type LeaseResult<T> = {
  result: T;
  changes?: CustomerChanges;
  effects?: (release: Release) => void;
  released?: true;
};

type Work<T> = (leased: LeasedCustomer) => Promise<LeaseResult<T>>;
type Acquisition = {
  changes?: CustomerChanges | undefined;
  /** The result of `leaseOf`; without it the first look is an attempt to acquire. */
  seen?: { until: number }[];
};

/** Waits 15 s, then throws 503; 401 without the user. */
export function withLease<T>(
  { db, waitUntil }: Scope<'db' | 'waitUntil'>,
  userId: string,
  work: Work<T>,
  acquisition: Acquisition = {},
): Promise<T> {
  const done = waitForLease(db, userId, acquisition).then((leased) => hold(db, leased, work));
  waitUntil(done.catch(() => undefined));
  return done;
}

export function leaseOf(db: Database, userId: string) {
  return db
    .select({ until: customers.leaseUntil })
    .from(customers)
    .where(eq(customers.userId, userId));
}

export async function hold<T>(db: Database, leased: LeasedCustomer, work: Work<T>): Promise<T> {
  const finished = await work(leased).catch(async (error: unknown) => {
    const changes = afterFailure(error, leased.customer);
    await release(db, leased, { changes }).catch(() => undefined);
    throw error;
  });
  if (finished.released) return finished.result;

  if ((await release(db, leased, finished)) === 'lost')
    throw new RequestError('unavailable', { retryAfter: 1 });
  return finished.result;
}

export function acquireLease(
  db: Database,
  token: string,
  which: SQL,
  changes: CustomerChanges = {},
) {
  const now = Date.now();
  const acquire = db
    .update(customers)
    .set({
      leaseToken: token,
      leaseUntil: now + leaseMs,
      ...changes,
    })
    .where(and(which, lte(customers.leaseUntil, now)));
  return {
    acquire,
    acquired: customersWhere(db, eq(customers.leaseToken, token)),
  };
}

export function customersWhere(db: Database, which: SQL) {
  const columns = { customer: customers, user: users };
  return db
    .select(columns)
    .from(customers)
    .innerJoin(users, eq(users.id, customers.userId))
    .where(which);
}

/**
 * Stripe may have done what its lost response reports.
 * A 5xx that it would replay for a day needs a new key.
 */
function afterFailure(error: unknown, customer: Customer): CustomerChanges {
  const now = Date.now();
  if (isFinalRefusal(error)) return { dueAt: now };
  const failures = customer.failures + 1;
  const replays = error instanceof StripeUnavailable && error.replays;
  return {
    failures,
    dueAt: now + pauseAfter(failures),
    ...(replays && { attempt: plus(customers.attempt, 1) }),
  };
}

/**
 * A refusal of the API's list ends the work as a result
 * does; one of Stripe's is repeated after growing pauses.
 */
function isFinalRefusal(error: unknown): boolean {
  if (!(error instanceof RequestError) || error instanceof StripeRefused) return false;
  return apiErrors[error.errorName].status < 500;
}

/** `lost` (another call holds the lease) writes nothing; `released`: `changes` and `effects`. */
async function release(
  db: Database,
  { token, customer }: LeasedCustomer,
  { changes, effects }: Pick<LeaseResult<unknown>, 'changes' | 'effects'>,
): Promise<'released' | 'lost'> {
  const isOwnLease = eq(customers.leaseToken, token);
  const tx = transaction(db, {
    facts: { isHeld: rowExists(customers, isOwnLease) },
    outcomes: ({ isHeld }) => ({ lost: not(isHeld) }),
    otherwise: 'released',
  });

  effects?.(tx);
  const free = { leaseUntil: 0, leaseToken: null };
  tx.update(
    ['released'],
    customers,
    { ...free, ...changes, ...dueAtOf(customer, changes) },
    isOwnLease,
  );

  return (await tx.run()).outcome;
}

/** What was marked during the work is due at once. */
function dueAtOf({ dirty }: Customer, { dueAt }: CustomerChanges = {}): CustomerChanges {
  if (dueAt === undefined) return {};
  const isMarked = gt(customers.dirty, dirty);
  return { dueAt: iif<number | null>(isMarked, Date.now(), dueAt) };
}

async function waitForLease(
  db: Database,
  userId: string,
  { changes, seen = [] }: Acquisition,
): Promise<LeasedCustomer> {
  const giveUpAt = Date.now() + acquireTimeoutMs;
  let heldUntil = seen[0]?.until ?? 0;
  let pauseMs = firstPauseMs;
  while (Date.now() < giveUpAt) {
    const isFree = heldUntil <= Date.now();
    const leased = isFree && (await attempt(db, userId, changes));
    if (leased) return leased;

    await scheduler.wait(pauseMs * (1 + Math.random() / 2));
    pauseMs = Math.min(pauseMs * 1.3, longestRetryPauseMs);
    heldUntil = await leaseUntil(db, userId);
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

async function leaseUntil(db: Database, userId: string): Promise<number> {
  const [row] = await db
    .select({ until: customers.leaseUntil })
    .from(users)
    .leftJoin(customers, eq(customers.userId, users.id))
    .where(eq(users.id, userId));
  if (!row) throw new RequestError('unauthenticated');
  return row.until ?? 0;
}

async function attempt(
  db: Database,
  userId: string,
  changes?: CustomerChanges,
): Promise<LeasedCustomer | null> {
  const token = crypto.randomUUID();
  const unbilled = { userId: users.id.getSQL(), dueAt: null };
  const ofUser = insertSelect(
    customers,
    unbilled,
    sql`from ${users} where ${eq(users.id, userId)}`,
  );

  const create = db.run(upsertSelect(ofUser, customers, 'ignore'));
  const lease = acquireLease(db, token, eq(customers.userId, userId), changes);

  const [row] = (await batch(db, { create, ...lease })).acquired;
  return row ? { token, ...row } : null;
}
