import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { ownMethod } from '../payments/payment-methods.ts';
import { isEnded, applyCancellation } from './subscriptions.ts';
import { endTrial, movePeriod, periodFrom } from './periods.ts';
import type { Line, Price, Subscription, SubscriptionItem } from '../objects.ts';
import { planOf, recurringPrice } from '../catalogue.ts';
import { collectInvoice } from '../invoices/collect-invoice.ts';
import { invoiceSubscription } from '../invoices/subscription-invoices.ts';
import { creditLine, periodLine, remainingLine } from '../invoices/lines.ts';
import { refuseIncomplete } from '../payments/attempt-payment.ts';

type Params = Stripe.SubscriptionUpdateParams;

export function updateSubscription(world: World, call: Call<Params>): Subscription {
  const id = idOf(call);
  const { params } = call;
  const current = world.subscriptions.get(id);
  if (isEnded(current)) refuseEnded(params);
  if (current.status === 'incomplete') refuseIncompleteChange(params);
  if (params.payment_behavior === 'pending_if_incomplete') {
    throw invalid('Pending updates are not kept by the local Stripe.', 'payment_behavior');
  }
  applyFields(world, id, params);
  applyCancellation(world, id, params);
  applyItems(world, id, params);
  applyTrialEnd(world, id, params.trial_end);
  return world.subscriptions.get(id);
}

function refuseEnded(params: Params): void {
  const others = Object.keys(params).filter((name) => !['metadata', 'cancellation_details', 'expand'].includes(name));
  if (others.length === 0) return;
  const message = 'A canceled subscription can only update its cancellation_details and metadata.';
  throw invalid(message, undefined, 'invalid_canceled_subscription_fields');
}

/** Before the first invoice is paid, changes that create another invoice are refused. */
function refuseIncompleteChange(params: Params): void {
  const others = ['items', 'trial_end', 'billing_cycle_anchor'].filter((name) => name in params);
  if (others.length === 0) return;
  throw invalid(
    'You cannot update a subscription in `incomplete` status in such a way that results in updating or creating an invoice.',
  );
}

function applyFields(world: World, id: string, params: Params): void {
  const { default_payment_method: method, metadata, trial_settings: trial } = params;
  if (method) ownMethod(world, world.subscriptions.get(id).customer, method, 'default_payment_method');
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, given(params, 'default_payment_method', 'description'));
    const { pause_collection: pause } = params;
    if (pause !== undefined) subscription.pause_collection = pause ? { resumes_at: null, ...pause } : null;
    const missing = trial?.end_behavior.missing_payment_method;
    if (missing) subscription.trial_settings.end_behavior.missing_payment_method = missing;
    Object.assign(subscription.cancellation_details, given(params.cancellation_details ?? {}, 'comment', 'feedback'));
    subscription.metadata = mergeMetadata(subscription.metadata, metadata);
  });
}

function applyItems(world: World, id: string, params: Params): void {
  const restart = (params.billing_cycle_anchor as { type?: string } | undefined)?.type === 'now';
  if (params.items === undefined && !restart) return;
  const manner = { proration: params.proration_behavior, paymentBehavior: params.payment_behavior, restart };
  changePrice(world, id, wantedPrice(world.subscriptions.get(id), params.items), manner);
}

/** The price that an update wants for the only item. */
function wantedPrice({ items }: Subscription, wanted: Params['items']): string {
  const [item] = items.data;
  const [change, another] = wanted ?? [{ id: item.id }];
  if (another || change?.deleted || (change?.quantity ?? 1) !== 1 || !change?.id)
    throw invalid('The local Stripe keeps subscriptions of one item, once.', 'items');
  if (change.id !== item.id) throw missing('subscription_item', change.id, 'items[0][id]');
  return change.price ?? item.price.id;
}

function applyTrialEnd(world: World, id: string, wanted: Params['trial_end']): void {
  if (wanted === undefined) return;
  const subscription = world.subscriptions.get(id);
  if (wanted === 'now') {
    if (subscription.status === 'trialing') endTrial(world, id, world.now(), { isRequested: true });
    return;
  }
  const end = wanted;
  if (end <= world.now())
    throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future.', 'trial_end');
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { status: 'trialing', trial_end: end, billing_cycle_anchor: end });
    subscription.trial_start ??= world.now();
    Object.assign(subscription.items.data[0], { current_period_end: end, billed_until: end });
    subscription._.isTrialEndAnnounced = false;
  });
}

type Manner = {
  proration?: string | undefined;
  paymentBehavior?: string | undefined;
  /** Starts a new period now. */
  restart?: boolean;
  /** The cardholder has authenticated the payment. */
  isAuthenticated?: boolean | undefined;
};

/** Changes the price of a subscription, and charges or credits the difference as the options say. */
export function changePrice(world: World, id: string, wanted: string, manner: Manner = {}): void {
  const before = world.subscriptions.get(id);
  const [old] = before.items.data;
  const price = recurringPrice(world, wanted, 'items[0][price]');
  if (price.id === old.price.id && !manner.restart) return;
  const item = { ...old, price, plan: planOf(price) };
  const isCharged = before.status === 'active' || before.status === 'past_due';
  const restart = isCharged && (manner.restart === true || startsNewPeriod(old.price, price));
  const lines = isCharged ? linesFor(world, before, item, { ...manner, restart }) : [];
  const edit = (subscription: Subscription): void => {
    subscription.items.data = [item];
    if (!restart) return;
    subscription.billing_cycle_anchor = world.now();
    movePeriod(subscription, periodFrom(world.now(), price));
  };
  if (restart || (manner.proration === 'always_invoice' && lines.length > 0)) {
    invoiceChange(world, id, { ...manner, lines, edit, restart });
    return;
  }
  world.subscriptions.change(id, (subscription) => {
    edit(subscription);
    subscription._.pending.push(...lines);
  });
}

/** Another interval, or the first price above nothing, starts a new period at once. */
function startsNewPeriod(before: Price, after: Price): boolean {
  const [one, other] = [before.recurring, after.recurring];
  const isSame = one?.interval === other?.interval && one?.interval_count === other?.interval_count;
  return !isSame || (before.unit_amount === 0 && after.unit_amount > 0);
}

function linesFor(world: World, before: Subscription, item: SubscriptionItem, { proration, restart }: Manner): Line[] {
  const whole = restart ? [periodLine(world, before, item, periodFrom(world.now(), item.price))] : [];
  if (proration === 'none') return whole;
  const credit = creditLine(world, before);
  return restart ? [credit, ...whole] : [credit, remainingLine(world, before, item)];
}

type Change = Manner & { lines: Line[]; edit: (subscription: Subscription) => void };

function invoiceChange(world: World, id: string, change: Change): void {
  const { lines, edit, paymentBehavior, restart, isAuthenticated } = change;
  const mustPay = paymentBehavior === 'error_if_incomplete';
  const collect = mustPay || paymentBehavior === 'default_incomplete' ? 'none' : 'now';
  const now = world.now();
  const invoice = invoiceSubscription(world, id, {
    reason: 'subscription_update',
    lines,
    edit,
    collect,
    ...(restart && { period: { start: now, end: now } }),
  });
  if (!mustPay || world.invoices.get(invoice).status === 'paid') return;
  refuseIncomplete(collectInvoice(world, invoice, { isAuthenticated }));
}
