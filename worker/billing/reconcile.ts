import { sql, type SQL } from 'drizzle-orm';
import { surpriseOf } from '../http/failure.ts';
import { log } from '../log.ts';
import { takeCustomer } from './lease.ts';
import { sync, type Billing } from './sync.ts';

const atOnce = 5;
const minuteMs = 60_000;

/** Syncs a user's customer if it is free and the condition holds. */
export async function syncUser(billing: Billing, userId: string, condition: SQL = sql`true`): Promise<void> {
  const token = crypto.randomUUID();
  const which = sql`user_id = ${userId} and ${condition}`;
  const [, [row]] = await billing.db.batch(takeCustomer(billing.db, token, which));
  if (!row) return;
  await sync(billing, { token, ...row }).catch((error: unknown) => log('error', 'sync_postponed', surpriseOf(error)));
}

/**
 * Users whose customers are marked by an event that could not be followed, or have lost their id on its way from
 * Stripe, or who came from Stripe's pages lately.
 */
export function finishLeftovers(billing: Billing, now: number): Promise<void> {
  return syncAll(
    billing,
    sql`select user_id as id from customers where dirty > synced and lease_until <= ${now}
      union select user_id as id from customers indexed by customers_unanswered
      where stripe_asked and stripe_id is null and lease_until <= ${now}
      union select c.user_id as id from users u join customers c on c.user_id = u.id
      where u.billing_watch_until > ${now} and c.stripe_id is not null and c.synced_at < ${now - minuteMs / 2}
      limit 100`,
  );
}

/** Everybody who ever had a subscription and was not looked at for an hour, the longest first. */
export function reconcile(billing: Billing, now: number): Promise<void> {
  return syncAll(
    billing,
    sql`select user_id as id from customers where synced_at < ${now - 50 * minuteMs} and had_subscription
      order by synced_at limit 2000`,
  );
}

async function syncAll(billing: Billing, which: SQL): Promise<void> {
  const queue = await billing.db.all<{ id: string }>(which);
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await syncUser(billing, next.id);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
