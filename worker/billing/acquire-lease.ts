import { and, eq, lte, sql, type SQL } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Authorized, UserSession } from '../accounts/user-session.ts';
import { customersWhere, type Changes, type LeasedCustomer } from './leased-customer.ts';

const leaseMs = 45_000;
/** The maximum wait for other calls of the same user. */
const patienceMs = 15_000;
const firstPauseMs = 1000;
const longestPauseMs = 2000;
const attemptMs = 2000;

type Context = { db: Database; session: UserSession; waitUntil: (work: Promise<unknown>) => void };
type Work<T> = (leased: LeasedCustomer) => Promise<T>;

/** Statements that acquire a free lease with further changes, and that read the customer if the lease was acquired. */
export function acquireLease(db: Database, token: string, which: SQL, changes: Changes = {}) {
  const now = Date.now();
  const acquire = db
    .update(customers)
    .set({ leaseToken: token, leaseUntil: now + leaseMs, ...changes })
    .where(and(which, lte(customers.leaseUntil, now)));
  return [acquire, customersWhere(db, eq(customers.leaseToken, token))] as const;
}

/**
 * Acquires the customer of a session's user, created if needed, and runs work with it; throws 503 if other calls hold
 * it too long. The work continues if the caller disconnects.
 */
export function acquireCustomer<T>(context: Context, work: Work<T>, changes?: Changes): Promise<Authorized<T>> {
  const { db, session, waitUntil } = context;
  const lease = db
    .select({ until: customers.leaseUntil })
    .from(customers)
    .where(eq(customers.userId, session.claimedUserId));
  const done = session.run([lease], async ({ id }, [row]) => {
    const leased = await waitForLease(db, id, row?.until ?? 0, changes);
    try {
      return await work(leased);
    } finally {
      busyUsers.delete(id);
    }
  });
  waitUntil(done.catch(() => undefined));
  return done;
}

/**
 * Users whose lease a call of this isolate holds or tries to acquire, until an instant (unix ms). Other calls then skip
 * an attempt that would fail, since each attempt is a write.
 */
const busyUsers = new Map<string, number>();

/** While another call holds the lease, it only reads, at most once a second; 401 when that call deletes the user. */
async function waitForLease(db: Database, userId: string, until: number, changes?: Changes): Promise<LeasedCustomer> {
  const giveUpAt = Date.now() + patienceMs;
  const lease = db
    .select({ until: customers.leaseUntil })
    .from(users)
    .leftJoin(customers, eq(customers.userId, users.id))
    .where(eq(users.id, userId));
  let free = until <= Date.now();
  for (let pauseMs = firstPauseMs; Date.now() < giveUpAt; pauseMs = Math.min(pauseMs * 1.3, longestPauseMs)) {
    const leased = free && (busyUsers.get(userId) ?? 0) <= Date.now() ? await attempt(db, userId, changes) : null;
    if (leased) return leased;
    await scheduler.wait(pauseMs * (1 + Math.random() / 2));
    const [row] = await lease;
    if (!row) throw new RequestError('unauthenticated');
    free = (row.until ?? 0) <= Date.now();
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

async function attempt(db: Database, userId: string, changes?: Changes): Promise<LeasedCustomer | null> {
  busyUsers.set(userId, Date.now() + attemptMs);
  const token = crypto.randomUUID();
  const create = db.run(sql`insert into ${customers} (user_id, due_at)
    select ${users.id}, null from ${users} where ${users.id} = ${userId} on conflict do nothing`);
  const [, , [row]] = await db.batch([create, ...acquireLease(db, token, eq(customers.userId, userId), changes)]);
  if (!row) busyUsers.delete(userId);
  else busyUsers.set(userId, row.customer.leaseUntil);
  return row ? { token, ...row } : null;
}
