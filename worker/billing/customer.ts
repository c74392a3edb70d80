import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import type { Customer, LeasedCustomer } from './lease.ts';
import { requireOwner } from './foreign-customer.ts';
import { unlessMissing, unlessRefused } from './stripe-client.ts';
import { hourMs } from '../lib/time.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';

/** At least 24 hours, says Stripe. */
const keyLifetimeMs = 23 * hourMs;
/** Stripe's clock may be behind ours. */
const skewSeconds = 600;
/**
 * Stripe's search lags by up to a minute. The list
 * does not, but many new customers may fill its page.
 */
const listedAtMost = 1000;

export async function ensureCustomer(
  stripe: Stripe,
  { customer, user }: LeasedCustomer,
): Promise<string> {
  if (customer.stripeId) return customer.stripeId;
  const keyIsSpent =
    customer.attempt > 1 || (customer.askedAt ?? Infinity) < Date.now() - keyLifetimeMs;
  const lost = keyIsSpent ? await findCustomers(stripe, customer) : [];
  const adopted = await adoptCustomer(stripe, lost, user);
  if (adopted) return adopted;

  const idempotencyKey = `customer:${user.id}:${customer.attempt}`;
  return (await stripe.customers.create(detailsOf(user), { idempotencyKey })).id;
}

const detailsOf = ({ id, phone }: User) => ({
  phone,
  metadata: { userId: id, phone },
});

async function adoptCustomer(
  stripe: Stripe,
  candidates: string[],
  user: User,
): Promise<string | null> {
  // Stripe updates no deleted customer.
  for (const id of candidates)
    if (await unlessMissing(stripe.customers.update(id, detailsOf(user)))) return id;
  return null;
}

/**
 * Without a customer of our own the one that Stripe has of the user
 * counts: a restored database does not know it. While Stripe does not
 * say, there is none: the idempotency key finds one that was made today.
 */
export async function withFoundCustomer(
  stripe: Stripe,
  leased: LeasedCustomer,
): Promise<LeasedCustomer> {
  const { customer, user } = leased;
  if (customer.stripeId) return leased;
  const found = await findCustomers(stripe, {
    ...customer,
    askedAt: null,
  }).catch(() => []);
  const stripeId = await adoptCustomer(stripe, found, user);
  return { ...leased, customer: { ...customer, stripeId } };
}

/**
 * Gives the customer the number that its user has by now. A list of subscriptions
 * brings the customer; without one it is read only after a mark. One that the owner
 * made in Stripe's dashboard names nobody, and stays.
 */
export async function renameCustomer(
  stripe: Stripe,
  leased: LeasedCustomer,
  [subscription]: Stripe.Subscription[],
): Promise<void> {
  const { customer, user } = leased;
  const isMarked = customer.dirty > customer.synced;
  const unlisted = isMarked && !subscription ? await ownCustomer(stripe, leased) : null;
  const found = subscription?.customer ?? unlisted;
  if (!found || typeof found === 'string' || found.deleted) return;

  const { id, metadata } = found;
  if (metadata.phone === undefined || metadata.phone === user.phone) return;
  await unlessRefused(stripe.customers.update(id, detailsOf(user)));
}

export async function findCustomers(
  stripe: Stripe,
  { userId, askedAt }: LeasedCustomer['customer'],
): Promise<string[]> {
  const query = `metadata['userId']:'${userId}'`;
  const searched = await unlessRefused(
    stripe.customers.search({
      query,
      limit: 100,
    }),
  );

  const created = { gte: Math.floor((askedAt ?? 0) / 1000) - skewSeconds };
  const listed = askedAt
    ? await stripe.customers
        .list({ created, limit: 100 })
        .autoPagingToArray({ limit: listedAtMost })
    : [];

  const own = [...(searched?.data ?? []), ...listed].filter(
    ({ metadata }) => metadata.userId === userId,
  );

  const sorted = own.toSorted((a, b) => a.created - b.created).map(({ id }) => id);
  return [...new Set(sorted)];
}

export async function withCustomer<T>(
  db: Database,
  stripe: Stripe,
  leased: LeasedCustomer,
  work: (customer: string) => Promise<T>,
): Promise<{ id: string; result: T }> {
  const id = await ensureCustomer(stripe, leased);
  const result = await unlessMissing(work(id), 'customer');
  if (result !== null) return { id, result };
  if ((await presenceOfCustomer(stripe, id)) !== 'gone') throw new CustomerUnknown(id);
  const another = await ensureCustomer(stripe, await withoutCustomer(db, leased));
  return { id: another, result: await work(another) };
}

/**
 * Removes the deleted customer's id first, so that the
 * cron job finds the new customer if its response is lost.
 */
async function withoutCustomer(db: Database, leased: LeasedCustomer): Promise<LeasedCustomer> {
  const attempt = leased.customer.attempt + 1;
  const askedAt = Date.now();
  const changes = {
    stripeId: null,
    stripeAsked: true,
    attempt,
    askedAt,
  };

  const { rowsAffected } = await db
    .update(customers)
    .set(changes)
    .where(eq(customers.leaseToken, leased.token));
  if (rowsAffected === 0) throw new RequestError('unavailable', { retryAfter: 1 });

  return {
    ...leased,
    customer: { ...leased.customer, stripeId: null, attempt, askedAt },
  };
}

/** `unknown` belongs to the account of another key. */
export async function presenceOfCustomer(
  stripe: Stripe,
  id: string,
): Promise<'present' | 'gone' | 'unknown'> {
  const found = await unlessMissing(stripe.customers.retrieve(id));
  if (!found) return 'unknown';
  return found.deleted ? 'gone' : 'present';
}

/**
 * The customer at Stripe that a row names; null if Stripe has it no
 * more. Throws 503 for one that was created for another account:
 * Stripe's pages would show that person's address and cards.
 */
export async function ownCustomer(
  stripe: Stripe,
  {
    customer,
    user,
  }: {
    customer: Pick<Customer, 'stripeId'>;
    user: Pick<User, 'id'>;
  },
): Promise<Stripe.Customer | null> {
  if (!customer.stripeId) return null;
  const found = await unlessMissing(stripe.customers.retrieve(customer.stripeId));
  if (!found || found.deleted) return null;
  requireOwner(found, user.id);
  return found;
}

/** Nothing changes until the key is corrected. */
export async function requireKnown(stripe: Stripe, customer: string): Promise<void> {
  if ((await presenceOfCustomer(stripe, customer)) === 'unknown')
    throw new CustomerUnknown(customer);
}

export class CustomerUnknown extends RequestError {
  constructor(customer: string) {
    super('unavailable');
    this.name = 'CustomerUnknown';
    logUnknownCustomer(customer);
  }
}

export function logUnknownCustomer(customer: string): void {
  log('error', 'stripe_customer_unknown', {
    customer,
    action: 'Check that STRIPE_SECRET_KEY is of the same account.',
  });
}
