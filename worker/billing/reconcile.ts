import { sql, type SQL } from 'drizzle-orm';
import { customers } from '#db/schema';
import { batch, type Database } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import { customersPerRun, dueCustomers } from './due.ts';
import { acquireLease, customersWhere, type LeasedCustomer } from './lease.ts';
import { sync, type Billing } from './sync.ts';
import { minuteMs } from '../lib/time.ts';

/** A Worker has six connections; one is for the other work of the cron job. */
const atOnce = 5;
/** Two rounds at Stripe's timeout are shorter than a lease. */
const chunk = 2 * atOnce;
const runMs = 45_000;
/** The pause after a Worker that was killed during a fetch. */
const stoppedMs = 10 * minuteMs;

export async function syncUser(billing: Billing, userId: string, condition: SQL = sql`true`): Promise<void> {
  const token = crypto.randomUUID();
  const which = sql`${customers.userId} = ${userId} and ${condition}`;
  const { acquired } = await batch(billing.db, acquireLease(billing.db, token, which));
  const [row] = acquired;
  if (row) await syncOrPostpone(billing, { token, ...row });
}

export async function reconcile(billing: Billing, now: number): Promise<void> {
  const until = Date.now() + runMs;
  for (let synced = 0; synced < customersPerRun && Date.now() < until;) {
    const leased = await acquireDue(billing.db, now);
    if (leased.length === 0) return;
    synced += leased.length;
    const work = async () => {
      for (let next = leased.shift(); next; next = leased.shift()) await syncOrPostpone(billing, next);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
}

async function acquireDue(db: Database, now: number): Promise<LeasedCustomer[]> {
  const run = crypto.randomUUID();
  const token = sql`${`${run}:`} || ${customers.userId}`;
  const due = sql`${customers.userId} in (${dueCustomers(now, chunk)})`;
  const { acquire } = acquireLease(db, run, due, { leaseToken: token, dueAt: Date.now() + stoppedMs });
  // `;` follows `:` in ASCII.
  const acquired = customersWhere(
    db,
    sql`${customers.leaseToken} > ${`${run}:`} and ${customers.leaseToken} < ${`${run};`}`,
  );
  const rows = await batch(db, { acquire, acquired });
  return rows.acquired.map((row) => ({ ...row, token: row.customer.leaseToken! }));
}

export function logPostponed({ customer }: LeasedCustomer, error: unknown): void {
  log('error', 'sync_postponed', { failures: customer.failures + 1, ...describeError(error) });
}

async function syncOrPostpone(billing: Billing, leased: LeasedCustomer): Promise<void> {
  await sync(billing, leased).catch((error: unknown) => logPostponed(leased, error));
}
