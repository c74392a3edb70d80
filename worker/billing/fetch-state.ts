import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import type { Settings } from '../settings.ts';
import { refuseUnknownCustomer, presenceOfCustomer } from './customer-presence.ts';
import { derive, plannedPrice, type SubscriptionState } from './derive.ts';
import type { LeasedCustomer } from './leased-customer.ts';
import { payWithNewCard } from './open-invoice.ts';
import { paidWeekOf, priceOfLine } from './paid-week.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import { owes } from './portal.ts';
import { tierOfPrice } from './prices.ts';
import { unlessMissing } from './stripe-client.ts';
import { subscriptionsOf } from './subscriptions.ts';

/** Reads a few invoices, since those with prorations alone do not count. */
const paidInvoices = 20;

export type FetchedState = {
  state: SubscriptionState;
  setupSession: string | null;
  /** The plan after the trial, if it cannot start because it is no longer on sale. */
  offSaleTier: PaidPlanId | null;
};

/** Fetches a customer's state after completing pending work at Stripe. */
export async function fetchState(
  stripe: Stripe,
  leased: LeasedCustomer,
  stripeId: string,
  settings: Settings,
): Promise<FetchedState> {
  const { user } = leased;
  const { session, offSaleTier } = await startPlanAfterTrial(stripe, leased, settings);
  const subscriptions = await payDebts(stripe, leased, await fetchSubscriptions(stripe, leased, stripeId), stripeId);
  const invoices = await paidInvoicesOf(stripe, subscriptions);
  const prices = await tiersOf(stripe, subscriptions, [...invoices.values()].flat());
  const paidWeeks = new Map([...invoices].map(([id, paid]) => [id, paidWeekOf(paid, prices)]));
  const known = { trialEndsAt: user.trialEndsAt, heldTier: user.tier, prices, paidWeeks };
  return { state: derive(subscriptions, known), setupSession: session, offSaleTier };
}

/** All subscriptions; none for a deleted customer. For an unknown customer it throws, so the plan stays. */
async function fetchSubscriptions(stripe: Stripe, { user, customer }: LeasedCustomer, stripeId: string) {
  const found = await subscriptionsOf(stripe, stripeId);
  if (found && (found.length > 0 || (user.tier === 'free' && !customer.hadSubscription))) return found;
  if ((await presenceOfCustomer(stripe, stripeId)) === 'unknown') throw refuseUnknownCustomer(stripeId);
  return found ?? [];
}

/** A user with a due payment may have saved another card on Stripe's pages. */
async function payDebts(
  stripe: Stripe,
  leased: LeasedCustomer,
  subscriptions: Stripe.Subscription[],
  stripeId: string,
): Promise<Stripe.Subscription[]> {
  if ((leased.user.billingWatchUntil ?? 0) < Date.now()) return subscriptions;
  let paid = false;
  for (const each of subscriptions.filter(owes)) paid = (await payWithNewCard(stripe, leased, each)) || paid;
  return paid ? fetchSubscriptions(stripe, leased, stripeId) : subscriptions;
}

/** The newest paid invoices of each subscription that is past due. */
async function paidInvoicesOf(stripe: Stripe, subscriptions: Stripe.Subscription[]) {
  const invoices = new Map<string, Stripe.Invoice[]>();
  for (const { id, status } of subscriptions) {
    if (status !== 'past_due') continue;
    const { data } = await stripe.invoices.list({ subscription: id, status: 'paid', limit: paidInvoices });
    invoices.set(id, data);
  }
  return invoices;
}

/** The plans of the prices that schedules and paid invoices name. */
async function tiersOf(stripe: Stripe, subscriptions: Stripe.Subscription[], invoices: Stripe.Invoice[]) {
  const items = subscriptions.flatMap(({ items: { data } }) => data);
  const prices = new Map(items.map(({ price }) => [price.id, tierOfPrice(price)]));
  const planned = subscriptions.map(plannedPrice);
  const charged = invoices.flatMap(({ lines }) => lines.data.map(priceOfLine));
  for (const id of new Set([...planned, ...charged])) {
    if (!id || prices.has(id)) continue;
    const price = await unlessMissing(stripe.prices.retrieve(id));
    prices.set(id, price && tierOfPrice(price));
  }
  return prices;
}
