import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { refuseUnknownCustomer, presenceOfCustomer } from './customer-presence.ts';
import type { LeasedCustomer } from './leased-customer.ts';
import { unlessMissing, unlessRefused } from './stripe-client.ts';
import { hourMs } from '../lib/time.ts';

/** Stripe keeps an idempotency key for at least 24 hours. */
const keyLifetimeMs = 23 * hourMs;
/** Stripe's clock may be behind ours, and the lost customer is not older than the request for it. */
const skewSeconds = 600;
/** Stripe's search lags by up to a minute. The list does not, but many new customers may fill its page. */
const listedAtMost = 1000;

/** The user's customer at Stripe, created on first use. A lost response or a replayed failure creates no second one. */
export async function ensureCustomer(stripe: Stripe, { customer, user }: LeasedCustomer): Promise<string> {
  if (customer.stripeId) return customer.stripeId;
  const keyIsSpent = customer.attempt > 1 || (customer.askedAt ?? Infinity) < Date.now() - keyLifetimeMs;
  for (const lost of keyIsSpent ? await findCustomers(stripe, customer) : []) {
    if ((await presenceOfCustomer(stripe, lost)) === 'present') return lost;
  }
  const idempotencyKey = `customer:${user.id}:${customer.attempt}`;
  const details = { phone: user.phone, metadata: { userId: user.id, phone: user.phone } };
  return (await stripe.customers.create(details, { idempotencyKey })).id;
}

/**
 * All customers that Stripe has for a user, oldest first: from the search, and from the list since the first request.
 */
export async function findCustomers(
  stripe: Stripe,
  { userId, askedAt }: LeasedCustomer['customer'],
): Promise<string[]> {
  const query = `metadata['userId']:'${userId}'`;
  const searched = await unlessRefused(stripe.customers.search({ query, limit: 100 }));
  const created = { gte: Math.floor((askedAt ?? 0) / 1000) - skewSeconds };
  const listed = askedAt
    ? await stripe.customers.list({ created, limit: 100 }).autoPagingToArray({ limit: listedAtMost })
    : [];
  const own = [...(searched?.data ?? []), ...listed].filter(({ metadata }) => metadata.userId === userId);
  const sorted = own.toSorted((a, b) => a.created - b.created).map(({ id }) => id);
  return [...new Set(sorted)];
}

/** Runs work for the user's customer, or for a new one if it was deleted in Stripe's dashboard. */
export async function withCustomer<T>(
  db: Database,
  stripe: Stripe,
  leased: LeasedCustomer,
  work: (customer: string) => Promise<T>,
): Promise<{ id: string; result: T }> {
  const id = await ensureCustomer(stripe, leased);
  const result = await unlessMissing(work(id), 'customer');
  if (result !== null) return { id, result };
  if ((await presenceOfCustomer(stripe, id)) !== 'gone') throw refuseUnknownCustomer(id);
  const another = await ensureCustomer(stripe, await withoutCustomer(db, leased));
  return { id: another, result: await work(another) };
}

/** Removes the deleted customer's id first, so that the cron job finds the new customer if its response is lost. */
async function withoutCustomer(db: Database, leased: LeasedCustomer): Promise<LeasedCustomer> {
  const attempt = leased.customer.attempt + 1;
  const askedAt = Date.now();
  const changes = { stripeId: null, stripeAsked: true, attempt, askedAt };
  await db.update(customers).set(changes).where(eq(customers.leaseToken, leased.token));
  return { ...leased, customer: { ...leased.customer, stripeId: null, attempt, askedAt } };
}
