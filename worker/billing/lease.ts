import { eq, sql, type SQL } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import type { Caller } from '../auth/caller.ts';
import type { Database } from '../db.ts';
import { Problem } from '../problem.ts';
import type { User } from '../usage/profile.ts';

const leaseMs = 45_000;
const patienceMs = 9000;
const pauseMs = 150;

export type Customer = typeof customers.$inferSelect;
/** A customer that this holder alone writes about, and the user as it stands. */
export type Leased = { token: string; customer: Customer; user: User };

/**
 * Takes a customer if it is free: the statement that takes it, with further changes along the way, and the query that
 * tells whether it did.
 */
export function takeCustomer(db: Database, token: string, which: SQL, changes: SQL = sql``) {
  const now = Date.now();
  const take = db.run(sql`update customers set lease_token = ${token}, lease_until = ${now + leaseMs} ${changes}
    where ${which} and lease_until <= ${now}`);
  const taken = db
    .select({ customer: customers, user: users })
    .from(customers)
    .innerJoin(users, eq(users.id, customers.userId))
    .where(eq(customers.leaseToken, token));
  return [take, taken] as const;
}

/** Takes the customer of a caller, new or known; waits for another holder to finish, and gives up with 503. */
export async function leaseCustomer(db: Database, caller: Caller, changes?: SQL): Promise<Leased> {
  const giveUpAt = Date.now() + patienceMs;
  const token = crypto.randomUUID();
  const create = db.run(sql`insert into customers (user_id) select ${caller.userId} where ${caller.userId} is not null
    on conflict do nothing`);
  const own = sql`user_id = ${caller.userId}`;
  while (Date.now() < giveUpAt) {
    const [, , , [row]] = await caller.load(create, ...takeCustomer(db, token, own, changes));
    if (row) return { token, ...row };
    await scheduler.wait(pauseMs);
  }
  throw new Problem('unavailable', { retryAfter: 1 });
}

/** SQL: gives a customer back; further changes to it may be set along the way. */
export function release({ token }: Pick<Leased, 'token'>, changes: SQL = sql``): SQL {
  return sql`update customers set lease_until = 0, lease_token = null ${changes} where lease_token = ${token}`;
}

/** SQL: whether the lease still holds, for writes that must not come late. */
export function held({ token }: Pick<Leased, 'token'>): SQL {
  return sql`exists (select 1 from customers where lease_token = ${token})`;
}
