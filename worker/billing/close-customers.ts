import type { Stripe } from 'stripe';
import { ensureCustomer, findCustomers, logUnknownCustomer } from './customer.ts';
import type { Customer, LeasedCustomer } from './lease.ts';
import { isForeign } from './foreign-customer.ts';
import { unlessDenied, unlessMissing, wholeList } from './stripe-client.ts';
import { cancelNow, isLive } from './subscriptions.ts';

/**
 * Ends everything at Stripe that could charge a user, then deletes the
 * customers; false if Stripe refuses that, or our key, or does not know them.
 * Throws if Stripe does not respond, or limits our rate.
 */
export async function closeCustomers(stripe: Stripe, leased: LeasedCustomer): Promise<boolean> {
  const { stripeId, stripeAsked, attempt } = leased.customer;
  if (!stripeId && !stripeAsked) return true;
  const own = await unlessDenied(ensureCustomer(stripe, leased));
  // A response may have been lost.
  const mayBeLost = attempt > 1 || !stripeId;
  const others = mayBeLost ? await unlessDenied(findCustomers(stripe, leased.customer)) : [];
  const isClosed = await closeEach(stripe, [...(others ?? []), own], leased.user.id);
  return isClosed && own !== null && others !== null;
}

export async function closeUnclosedCustomer(stripe: Stripe, customer: Customer): Promise<boolean> {
  const { stripeId, userId } = customer;
  const found = await unlessDenied(findCustomers(stripe, customer));
  const isClosed = await closeEach(stripe, [...(found ?? []), stripeId], userId);
  return isClosed && (found !== null || stripeId !== null);
}

async function closeEach(
  stripe: Stripe,
  customers: (string | null)[],
  userId: string,
): Promise<boolean> {
  let isClosed = true;
  for (const customer of new Set(customers))
    if (customer && !(await closeFound(stripe, customer, userId))) isClosed = false;
  return isClosed;
}

async function closeFound(stripe: Stripe, customer: string, userId: string): Promise<boolean> {
  const retrieved = stripe.customers.retrieve(customer);
  const found = await unlessDenied(unlessMissing(retrieved).then((each) => each ?? 'unknown'));
  if (found === 'unknown') {
    logUnknownCustomer(customer);
    return false;
  }
  const isNobodys = found !== null && (found.deleted || isForeign(found, userId));
  return isNobodys || closeCustomer(stripe, customer);
}

/**
 * Goes on where Stripe refuses a step: whoever
 * deletes the customer ends its subscriptions, too.
 */
async function closeCustomer(stripe: Stripe, customer: string): Promise<boolean> {
  const listed = { customer, limit: 100 };
  await expireSessions(stripe, listed);
  await endSubscriptions(stripe, listed);
  await voidInvoices(stripe, listed);

  const deletion = unlessMissing(stripe.customers.del(customer)).then(() => true);
  return (await unlessDenied(deletion)) ?? false;
}

type Listed = { customer: string; limit: number };

/** Stripe refuses for one that was completed meanwhile; its subscription is then canceled. */
async function expireSessions({ checkout }: Stripe, listed: Listed): Promise<void> {
  const sessions = await listOf(
    checkout.sessions.list({
      ...listed,
      status: 'open',
    }),
  );
  for (const { id } of sessions) await unlessDenied(checkout.sessions.expire(id));
}

async function endSubscriptions(stripe: Stripe, listed: Listed): Promise<void> {
  const all = await listOf(
    stripe.subscriptions.list({
      ...listed,
      status: 'all',
    }),
  );
  for (const subscription of all)
    if (isLive(subscription) || subscription.status === 'incomplete')
      await unlessDenied(cancelNow(stripe, subscription));

  const { subscriptionSchedules } = stripe;
  const schedules = await listOf(
    subscriptionSchedules.list({
      ...listed,
      scheduled: true,
    }),
  );
  for (const { id } of schedules) await unlessDenied(subscriptionSchedules.cancel(id));
}

/**
 * Stripe refuses for one that was paid or voided
 * meanwhile; without a customer it cannot be charged.
 */
async function voidInvoices({ invoices }: Stripe, listed: Listed): Promise<void> {
  const open = await listOf(invoices.list({ ...listed, status: 'open' }));
  for (const { id } of open) await unlessDenied(invoices.voidInvoice(id));
}

async function listOf<T>(list: Stripe.ApiListPromise<T>): Promise<T[]> {
  return (await unlessDenied(list.autoPagingToArray(wholeList))) ?? [];
}
