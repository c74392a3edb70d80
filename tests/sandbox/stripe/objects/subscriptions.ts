import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, type List, pageOf } from '../api/page.ts';
import type { Credited, Line } from '../billing/lines.ts';
import type { World } from '../world.ts';
import { requireCustomer } from './customers.ts';
import type { Metadata } from './metadata.ts';
import type { Price } from './prices.ts';

export type SubscriptionStatus =
  | 'active'
  | 'canceled'
  | 'incomplete'
  | 'incomplete_expired'
  | 'past_due'
  | 'paused'
  | 'trialing'
  | 'unpaid';

export type SubscriptionItem = {
  id: string;
  object: 'subscription_item';
  billed_until: number;
  billing_thresholds: null;
  created: number;
  current_period_start: number;
  current_period_end: number;
  current_trial: null;
  discounts: [];
  metadata: Metadata;
  plan: object;
  price: Price;
  quantity: number;
  subscription: string;
  tax_rates: [];
};

export type MissingMethod = 'cancel' | 'create_invoice' | 'pause';

export type Subscription = {
  id: string;
  object: 'subscription';
  billing_cycle_anchor: number;
  automatic_tax: { disabled_reason: null; enabled: boolean; liability: object | null };
  billing_mode: { type: string; flexible: { proration_discounts: string } | null; updated_at: number };
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: {
    comment: string | null;
    feedback: string | null;
    feedback_option: null;
    reason: string | null;
  };
  created: number;
  currency: string;
  customer: string;
  default_payment_method: string | null;
  description: string | null;
  ended_at: number | null;
  items: List<SubscriptionItem>;
  latest_invoice: string | null;
  metadata: Metadata;
  pause_collection: unknown;
  payment_settings: unknown;
  pending_setup_intent: string | null;
  schedule: string | null;
  start_date: number;
  status: SubscriptionStatus;
  status_details?: unknown;
  trial_start: number | null;
  trial_end: number | null;
  trial_settings: { end_behavior: { billing_cycle_anchor: 'now'; missing_payment_method: MissingMethod } };
  _: {
    /** Prorations that wait for the next invoice. */
    pending: Line[];
    isTrialEndAnnounced: boolean;
    /** The lines that billed the present period, by item. */
    billed: Record<string, Credited>;
    /** The latest invoice that is no draft. */
    lastFinalized: string | null;
  };
};

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

/** The earliest end of its items' periods. */
export function periodEnd(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_end));
}

export function periodStart(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_start));
}

/** When time alone changes it next. */
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
