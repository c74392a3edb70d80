import type { Stripe } from 'stripe';
import { invalid, notFound } from '../errors.ts';
import { day } from '../interval.ts';
import { newSetupIntent } from '../objects/setup-intents.ts';
import { trialNotice } from '../objects/subscriptions.ts';
import { needsAuthentication } from './attempt-payment.ts';
import { buildSubscription } from './build-subscription.ts';
import { collectInvoice } from './collect-invoice.ts';
import { defaultMethod } from './default-method.ts';
import { announceTrialEnd } from './end-trial.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine, trialLine } from './lines.ts';
import { refuseIncomplete } from './refuse-incomplete.ts';
import { requireMethod } from './require-method.ts';
import { applyCancellation } from './schedule-cancellation.ts';
import type { Customer } from '../types/customers.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.SubscriptionCreateParams;
/** `isAuthenticated`: the cardholder has authenticated the first payment. */
type Manner = { isAuthenticated?: boolean };

/**
 * Starts a subscription with its trial or first invoice. If the first charge fails, it is incomplete, or this throws.
 */
export function createSubscription(world: World, params: Params, manner: Manner = {}): Subscription {
  const customer = subscriber(world, params.customer ?? '');
  const trialEnd = trialEndOf(world, params);
  const behavior = params.payment_behavior ?? 'allow_incomplete';
  if (behavior === 'pending_if_incomplete') {
    throw invalid(
      'Setting `payment_behavior` to `pending_if_incomplete` has no effect when creating a subscription.',
      'payment_behavior',
    );
  }
  const draft = buildSubscription(world, customer, params, trialEnd);
  if (trialEnd === null && behavior !== 'default_incomplete') requireMethod(world, draft);
  const { id } = world.subscriptions.insert(draft);
  world.customers.change(customer.id, (customer) => void (customer.currency ??= draft.currency), null);
  if (trialEnd === null) payFirst(world, draft, { ...manner, behavior });
  else startTrial(world, draft, trialEnd);
  applyCancellation(world, id, params);
  return world.subscriptions.get(id);
}

/** Recorded: an unknown customer is a 404 here, and a 400 in most other calls. */
function subscriber(world: World, id: string): Customer {
  const customer = world.customers.find(id);
  if (!customer || customer.deleted) throw notFound('customer', id, 'customer');
  return customer;
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

function payFirst(
  world: World,
  subscription: Subscription,
  { behavior, isAuthenticated }: Manner & { behavior: string },
): void {
  const lines = subscription.items.data.map((item) =>
    periodLine(world, subscription, item, { start: item.current_period_start, end: item.current_period_end }),
  );
  const invoice = invoiceSubscription(world, subscription.id, {
    reason: 'subscription_create',
    lines,
    collect: 'none',
  });
  if (behavior === 'default_incomplete' || world.invoices.get(invoice).status === 'paid') return;
  const outcome = collectInvoice(world, invoice, { isAuthenticated });
  if (behavior === 'error_if_incomplete') refuseIncomplete(outcome);
}

function startTrial(world: World, subscription: Subscription, end: number): void {
  const period = { start: world.now(), end };
  const lines = subscription.items.data.map((item) => trialLine(world, subscription, item, period));
  invoiceSubscription(world, subscription.id, { reason: 'subscription_create', lines });
  askForMethod(world, subscription);
  if (end - world.now() <= trialNotice) announceTrialEnd(world, subscription.id);
}

/** For a trial without a saved card, Stripe creates a setup intent to save one. */
function askForMethod(world: World, subscription: Subscription): void {
  const method = defaultMethod(world, subscription);
  if (method && !needsAuthentication(method)) return;
  const { id } = newSetupIntent(world, { customer: subscription.customer, subscription: subscription.id });
  world.subscriptions.change(subscription.id, (subscription) => void (subscription.pending_setup_intent = id), null);
}
