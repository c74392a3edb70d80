import type { Stripe } from 'stripe';
import { declined, invalid, StripeError } from '../errors.ts';
import { day } from '../interval.ts';
import { liveCustomer } from '../objects/customers.ts';
import { type Subscription, trialNotice } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { collectInvoice } from './collect-invoice.ts';
import { defaultMethod } from './default-method.ts';
import { tellTrialEnd } from './end-trial.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine, trialLine } from './lines.ts';
import { applyCancellation } from './schedule-cancellation.ts';
import { buildSubscription } from './build-subscription.ts';

type Params = Stripe.SubscriptionCreateParams;

/** Begins a subscription with its trial or its first invoice. A refused first charge leaves it incomplete, or fails as wished. */
export function createSubscription(world: World, params: Params): Subscription {
  const customer = liveCustomer(world, params.customer ?? '', 'customer');
  const trialEnd = trialEndOf(world, params);
  const behavior = params.payment_behavior ?? 'allow_incomplete';
  const draft = buildSubscription(world, customer, params, trialEnd);
  if (trialEnd === null) requireMethod(world, draft, behavior);
  const { id } = world.subscriptions.insert(draft);
  world.customers.change(customer.id, (customer) => void (customer.currency ??= draft.currency), null);
  if (trialEnd === null) payFirst(world, draft, behavior);
  else startTrial(world, draft, trialEnd);
  applyCancellation(world, id, params);
  return world.subscriptions.get(id);
}

function trialEndOf(world: World, { trial_end: end, trial_period_days: days }: Params): number | null {
  if (end !== undefined && days !== undefined)
    throw invalid('You cannot set both `trial_end` and `trial_period_days`.', 'trial_end');
  if (days !== undefined) return world.now() + days * day;
  if (end === undefined || end === 'now') return null;
  if (end <= world.now())
    throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future.', 'trial_end');
  return end;
}

function requireMethod(world: World, subscription: Subscription, behavior: string): void {
  const isFree = subscription.items.data.every(({ price }) => price.unit_amount === 0);
  if (isFree || behavior === 'default_incomplete' || defaultMethod(world, subscription)) return;
  const message =
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method.';
  throw new StripeError(400, { type: 'invalid_request_error', code: 'resource_missing', message });
}

function payFirst(world: World, subscription: Subscription, behavior: string): void {
  const lines = subscription.items.data.map((item) =>
    periodLine(world, subscription, item, { start: item.current_period_start, end: item.current_period_end }),
  );
  const invoice = invoiceSubscription(world, subscription.id, {
    reason: 'subscription_create',
    lines,
    collect: 'none',
  });
  if (behavior === 'default_incomplete' || world.invoices.get(invoice).status === 'paid') return;
  const outcome = collectInvoice(world, invoice);
  if (outcome && behavior === 'error_if_incomplete') throw declined(outcome, false);
}

function startTrial(world: World, subscription: Subscription, end: number): void {
  const period = { start: world.now(), end };
  const lines = subscription.items.data.map((item) => trialLine(world, subscription, item, period));
  invoiceSubscription(world, subscription.id, { reason: 'subscription_create', lines });
  if (end - world.now() <= trialNotice) tellTrialEnd(world, subscription.id);
}
