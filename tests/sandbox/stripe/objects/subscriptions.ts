import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { requireCustomer } from './live-customer.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** How long a first payment may stay open: 23 hours. */
const incompleteFor = 23 * 3600;
/** Stripe announces a trial's end three days ahead. */
export const trialNotice = 3 * 86_400;

export function isEnded({ status }: Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

export function isLive(subscription: Subscription): boolean {
  return !isEnded(subscription);
}

/** The earliest end of its items' current periods. */
export function periodEnd(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_end));
}

export function periodStart(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_start));
}

/** When the clock changes it next, in unix seconds. */
export function subscriptionDueAt(subscription: Subscription): number | null {
  const { status, created, cancel_at, trial_end } = subscription;
  if (isEnded(subscription)) return null;
  if (status === 'incomplete') return created + incompleteFor;
  if (status === 'paused') return cancel_at;
  const ends = cancel_at ?? Infinity;
  if (status !== 'trialing' || trial_end === null) return Math.min(periodEnd(subscription), ends);
  const notice = subscription._.isTrialEndAnnounced ? Infinity : trial_end - trialNotice;
  return Math.min(trial_end, notice, ends);
}

export function retrieveSubscription(world: World, call: Call): Subscription {
  return world.subscriptions.get(idOf(call));
}

export function listSubscriptions(world: World, { params }: Call<Stripe.SubscriptionListParams>) {
  const { customer, price, status, created } = params;
  requireCustomer(world, customer);
  const found = world.subscriptions
    .all()
    .filter((subscription) => customer === undefined || subscription.customer === customer)
    .filter((subscription) => price === undefined || subscription.items.data.some((item) => item.price.id === price))
    .filter((subscription) => hasStatus(subscription, status))
    .filter((subscription) => inRange(subscription.created, created))
    .filter((subscription) => inRange(periodStart(subscription), params.current_period_start))
    .filter((subscription) => inRange(periodEnd(subscription), params.current_period_end));
  return pageOf(found, params, '/v1/subscriptions', world.subscriptions);
}

function hasStatus(subscription: Subscription, wanted: string | undefined): boolean {
  if (wanted === undefined) return isLive(subscription);
  if (wanted === 'all') return true;
  return wanted === 'ended' ? isEnded(subscription) : subscription.status === wanted;
}
