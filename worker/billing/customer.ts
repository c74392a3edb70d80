import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import type { Customer, LeasedCustomer } from './lease.ts';
import { isForeign, requireOwner } from './owner.ts';
import { unlessDenied, unlessMissing, unlessRefused, withStripe } from './stripe-client.ts';
import { hourMs } from '../lib/time.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { cancelNow, isLive } from './subscriptions.ts';
import type { Settings } from '../settings.ts';
import type { ExportSection } from '../identity/user-record.ts';

/** Stripe keeps an idempotency key for at least 24 hours. */
const keyLifetimeMs = 23 * hourMs;
/**
 * Stripe's clock may be behind ours, and the lost
 * customer is not older than the request for it.
 */
const skewSeconds = 600;
/**
 * Stripe's search lags by up to a minute. The list
 * does not, but many new customers may fill its page.
 */
const listedAtMost = 1000;
const all = { limit: 1000 };

/**
 * The user's customer at Stripe, created on first use. A
 * lost response or a replayed failure creates no second one.
 */
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

const detailsOf = ({ id, phone }: User) => ({ phone, metadata: { userId: id, phone } });

/**
 * The first of these customers that Stripe still has, with the user's
 * present number: it may have changed since the customer was created.
 */
async function adoptCustomer(
  stripe: Stripe,
  candidates: string[],
  user: User,
): Promise<string | null> {
  for (const id of candidates)
    // Stripe updates no deleted customer.
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
  const found = await findCustomers(stripe, { ...customer, askedAt: null }).catch(() => []);
  const stripeId = await adoptCustomer(stripe, found, user);
  return { ...leased, customer: { ...customer, stripeId } };
}

async function findCustomers(
  stripe: Stripe,
  { userId, askedAt }: LeasedCustomer['customer'],
): Promise<string[]> {
  const query = `metadata['userId']:'${userId}'`;
  const searched = await unlessRefused(stripe.customers.search({ query, limit: 100 }));
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

/**
 * Runs work for the user's customer, or for a new
 * one if it was deleted in Stripe's dashboard.
 */
export async function withCustomer<T>(
  db: Database,
  stripe: Stripe,
  leased: LeasedCustomer,
  work: (customer: string) => Promise<T>,
): Promise<{ id: string; result: T }> {
  const id = await ensureCustomer(stripe, leased);
  const result = await unlessMissing(work(id), 'customer');
  if (result !== null) return { id, result };
  if ((await presenceOfCustomer(stripe, id)) !== 'gone') refuseUnknownCustomer(id);
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
  const changes = { stripeId: null, stripeAsked: true, attempt, askedAt };
  const { rowsAffected } = await db
    .update(customers)
    .set(changes)
    .where(eq(customers.leaseToken, leased.token));
  if (rowsAffected === 0) throw new RequestError('unavailable', { retryAfter: 1 });
  return { ...leased, customer: { ...leased.customer, stripeId: null, attempt, askedAt } };
}

/**
 * `gone` was deleted in Stripe's dashboard;
 * `unknown` belongs to the account of another key.
 */
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
  { customer, user }: { customer: Pick<Customer, 'stripeId'>; user: Pick<User, 'id'> },
): Promise<Stripe.Customer | null> {
  if (!customer.stripeId) return null;
  const found = await unlessMissing(stripe.customers.retrieve(customer.stripeId));
  if (!found || found.deleted) return null;
  requireOwner(found, user.id);
  return found;
}

/**
 * Logs a customer that Stripe does not know, and throws
 * 503: nothing changes until the key is corrected.
 */
export function refuseUnknownCustomer(customer: string): never {
  log('error', 'stripe_customer_unknown', {
    customer,
    action: 'Check that STRIPE_SECRET_KEY is of the same account.',
  });
  throw new RequestError('unavailable');
}

/**
 * Ends everything at Stripe that could charge a user, then deletes the
 * customers; false if Stripe refuses that, or our key. Repeatable.
 */
export async function closeCustomers(stripe: Stripe, leased: LeasedCustomer): Promise<boolean> {
  const { stripeId, stripeAsked, attempt } = leased.customer;
  if (!stripeId && !stripeAsked) return true;
  const own = await unlessDenied(ensureCustomer(stripe, leased));
  // A response may have been lost, so another customer may exist.
  const others =
    attempt > 1 || !stripeId ? await unlessDenied(findCustomers(stripe, leased.customer)) : [];
  const presence = own && (await unlessDenied(presenceOfCustomer(stripe, own)));
  if (presence === 'unknown') refuseUnknownCustomer(own!);
  const isOpen = own !== null && presence !== 'gone';
  const open = isOpen ? await unlessForeign(stripe, own, leased.user.id) : [];
  const closed = await closeEach(stripe, [...(others ?? []), ...open]);
  return closed && own !== null && others !== null;
}

/**
 * As `closeCustomers`, for the customer of an account that has been deleted.
 */
export async function closeLeftCustomer(stripe: Stripe, customer: Customer): Promise<boolean> {
  const found = await unlessDenied(findCustomers(stripe, customer));
  const { stripeId, userId } = customer;
  const own = stripeId ? await unlessForeign(stripe, stripeId, userId) : [];
  return (
    (await closeEach(stripe, [...(found ?? []), ...own])) && (found !== null || stripeId !== null)
  );
}

/** Nobody's deletion ends what another account pays for. */
async function unlessForeign(stripe: Stripe, id: string, userId: string): Promise<string[]> {
  const found = await unlessDenied(unlessMissing(stripe.customers.retrieve(id)));
  return found && isForeign(found, userId) ? [] : [id];
}

async function closeEach(stripe: Stripe, customers: string[]): Promise<boolean> {
  let closed = true;
  for (const customer of new Set(customers))
    if (!(await closeCustomer(stripe, customer))) closed = false;
  return closed;
}

/**
 * Goes on where Stripe refuses a step: whoever
 * deletes the customer ends its subscriptions, too.
 */
async function closeCustomer(stripe: Stripe, customer: string): Promise<boolean> {
  const listed = { customer, limit: 100 };
  const sessions = await listOf(stripe.checkout.sessions.list({ ...listed, status: 'open' }));
  // Stripe refuses if it was completed meanwhile;
  // the subscription is then canceled below.
  for (const { id } of sessions) await unlessDenied(stripe.checkout.sessions.expire(id));
  const subscriptions = await listOf(stripe.subscriptions.list({ ...listed, status: 'all' }));
  for (const subscription of subscriptions)
    if (isLive(subscription) || subscription.status === 'incomplete')
      await unlessDenied(cancelNow(stripe, subscription));
  const schedules = await listOf(stripe.subscriptionSchedules.list({ ...listed, scheduled: true }));
  for (const { id } of schedules) await unlessDenied(stripe.subscriptionSchedules.cancel(id));
  const invoices = await listOf(stripe.invoices.list({ ...listed, status: 'open' }));
  // Stripe refuses if it was paid or voided meanwhile;
  // without a customer it cannot be charged.
  for (const { id } of invoices) await unlessDenied(stripe.invoices.voidInvoice(id));
  const deletion = unlessMissing(stripe.customers.del(customer)).then(() => true);
  return (await unlessDenied(deletion)) ?? false;
}

/** Every object of a list; none if Stripe refuses it. */
async function listOf<T>(list: Stripe.ApiListPromise<T>): Promise<T[]> {
  return (await unlessDenied(list.autoPagingToArray(all))) ?? [];
}

/**
 * Our row and Stripe's data; throws 503 if Stripe does not respond,
 * since a partial export would mislead. A refusal is told.
 */
export const exportBilling: ExportSection = async ({ user, db, settings }) => {
  const { stripeId, syncedAt, hadSubscription, setupSession } = customers;
  const columns = { stripeId, syncedAt, hadSubscription, setupSession };
  const [row] = await db.select(columns).from(customers).where(eq(customers.userId, user.id));
  if (!row?.stripeId) return { stripe: null };
  const found = await unlessRefused(fromStripe(settings, row.stripeId, user.id));
  return { stripe: { kept: row, ...(found ?? { isRefused: true }) } };
};

function fromStripe(settings: Settings, id: string, userId: string) {
  return withStripe(settings, async (stripe) => {
    const customer = await unlessMissing(stripe.customers.retrieve(id));
    if (!customer || customer.deleted)
      return {
        customer: null,
        subscriptions: [],
        invoices: [],
        paymentMethods: [],
      };
    requireOwner(customer, userId);
    const lists = { customer: id, limit: 100 };
    const [subscriptions, invoices, paymentMethods] = await Promise.all([
      stripe.subscriptions.list({ ...lists, status: 'all' }).autoPagingToArray(all),
      stripe.invoices.list(lists).autoPagingToArray(all),
      stripe.customers.listPaymentMethods(id, { limit: 100 }).autoPagingToArray(all),
    ]);
    return {
      customer: customerFields(customer),
      subscriptions: subscriptions.map(subscriptionFields),
      invoices: invoices.map(invoiceFields),
      paymentMethods: paymentMethods.map(paymentMethodFields),
    };
  });
}

function customerFields({ id, created, name, email, phone, address }: Stripe.Customer) {
  return { id, created: isoDate(created), name, email, phone, address };
}

function subscriptionFields({
  id,
  status,
  created,
  items,
  cancel_at: cancelAt,
  ended_at: endedAt,
}: Stripe.Subscription) {
  const plans = items.data.map(({ price }) => price.lookup_key);
  return {
    id,
    status,
    plans,
    created: isoDate(created),
    cancelAt: isoDate(cancelAt),
    endedAt: isoDate(endedAt),
  };
}

function invoiceFields({ id, number, status, created, total, currency }: Stripe.Invoice) {
  return { id, number, status, created: isoDate(created), total, currency };
}

function paymentMethodFields({
  id,
  type,
  created,
  card,
  billing_details: billing,
}: Stripe.PaymentMethod) {
  const { name, email, phone, address } = billing;
  const shown = card && {
    brand: card.brand,
    last4: card.last4,
    expMonth: card.exp_month,
    expYear: card.exp_year,
  };
  return {
    id,
    type,
    created: isoDate(created),
    card: shown ?? null,
    billing: { name, email, phone, address },
  };
}

function isoDate(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString();
}
