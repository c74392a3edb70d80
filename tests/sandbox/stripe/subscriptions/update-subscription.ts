import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { ownMethod } from '../payments/payment-methods.ts';
import { isEnded, applyCancellation, periodEnd } from './subscriptions.ts';
import { endTrial, movePeriod, periodFrom } from './periods.ts';
import type { Subscription, SubscriptionItem, Line, Metadata } from '../objects.ts';
import { planOf, recurringPrice } from '../catalogue.ts';
import { newSubscriptionItem } from './new-subscription.ts';
import { collectInvoice } from '../invoices/collect-invoice.ts';
import { invoiceSubscription } from '../invoices/subscription-invoices.ts';
import { periodLine, creditLine, prorationLines } from '../invoices/lines.ts';
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
  changeItems(world, id, (params.items ?? []) as WantedItem[], {
    proration: params.proration_behavior,
    paymentBehavior: params.payment_behavior,
    restart,
  });
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
    for (const item of subscription.items.data) Object.assign(item, { current_period_end: end, billed_until: end });
    subscription._.isTrialEndAnnounced = false;
  });
}

type WantedItem = { id?: string; price?: string; quantity?: number; deleted?: boolean; metadata?: Metadata };
type Manner = {
  proration?: string | undefined;
  paymentBehavior?: string | undefined;
  /** Starts a new period now. */
  restart?: boolean;
  /** The cardholder has authenticated the payment. */
  isAuthenticated?: boolean | undefined;
};

/** Changes a subscription's items, and charges or credits the difference as the options say. */
export function changeItems(world: World, id: string, wanted: WantedItem[], manner: Manner = {}): void {
  const before = world.subscriptions.get(id);
  const items = mergeItems(world, before, wanted);
  if (items.length === 0) throw invalid('A subscription must have at least one item.', 'items');
  const changed = items.filter((item) => !isSame(item, before.items.data)).length + removed(before, items).length;
  if (changed === 0 && !manner.restart) return;
  const isCharged = before.status === 'active' || before.status === 'past_due';
  const restart = isCharged && (manner.restart === true || startsNewPeriod(before.items.data, items));
  const lines = isCharged ? linesFor(world, before, items, { ...manner, restart }) : [];
  const edit = editWith(world, items, restart);
  if (restart || (manner.proration === 'always_invoice' && lines.length > 0)) {
    invoiceChange(world, id, { ...manner, lines, edit, restart });
    return;
  }
  world.subscriptions.change(id, (subscription) => {
    edit(subscription);
    subscription._.pending.push(...lines);
  });
}

function mergeItems(world: World, subscription: Subscription, wanted: WantedItem[]): SubscriptionItem[] {
  const items = new Map(subscription.items.data.map((item) => [item.id, { ...item }]));
  for (const { id, price, quantity, deleted, metadata } of wanted) {
    const item = id === undefined ? addedItem(world, subscription, price) : items.get(id);
    if (!item) throw missing('subscription_item', id ?? '', 'items[0][id]');
    if (price !== undefined) item.price = recurringPrice(world, price, 'items[0][price]');
    item.plan = planOf(item.price);
    Object.assign(item, { quantity: quantity ?? item.quantity, metadata: metadata ?? item.metadata });
    if (deleted) items.delete(item.id);
    else items.set(item.id, item);
  }
  return [...items.values()];
}

function addedItem(world: World, subscription: Subscription, price = ''): SubscriptionItem {
  const period = { start: world.now(), end: periodEnd(subscription) };
  const shared = { subscription: subscription.id, created: world.now(), period };
  return newSubscriptionItem({ ...shared, price: recurringPrice(world, price, 'items[0][price]') });
}

function isSame(item: SubscriptionItem, before: SubscriptionItem[]): boolean {
  const old = before.find(({ id }) => id === item.id);
  return old !== undefined && old.price.id === item.price.id && old.quantity === item.quantity;
}

function removed(subscription: Subscription, items: SubscriptionItem[]): SubscriptionItem[] {
  return subscription.items.data.filter((old) => !items.some(({ id }) => id === old.id));
}

/** Another interval, or the first price above nothing, starts a new period at once. */
function startsNewPeriod(before: SubscriptionItem[], after: SubscriptionItem[]): boolean {
  const intervals = new Set(
    [...before, ...after].map(({ price }) => `${price.recurring?.interval_count} ${price.recurring?.interval}`),
  );
  const cost = (items: SubscriptionItem[]) =>
    items.reduce((sum, { price, quantity }) => sum + price.unit_amount * quantity, 0);
  return intervals.size > 1 || (cost(before) === 0 && cost(after) > 0);
}

function linesFor(
  world: World,
  before: Subscription,
  items: SubscriptionItem[],
  { proration, restart }: Manner,
): Line[] {
  const whole = restart ? items.map((item) => periodLine(world, before, item, periodFrom(world.now(), item))) : [];
  if (proration === 'none') return whole;
  const gone = (restart ? before.items.data : removed(before, items)).map((item) => creditLine(world, before, item));
  if (restart) return [...gone, ...whole];
  const changed = items
    .filter((item) => !isSame(item, before.items.data))
    .flatMap((item) => {
      const old = before.items.data.find(({ id }) => id === item.id);
      return prorationLines(world, before, old ?? { ...item, quantity: 0 }, item);
    });
  return [...gone, ...changed];
}

function editWith(world: World, items: SubscriptionItem[], restart: boolean) {
  return (subscription: Subscription): void => {
    subscription.items.data = items;
    if (!restart) return;
    subscription.billing_cycle_anchor = world.now();
    for (const item of subscription.items.data) movePeriod(item, periodFrom(world.now(), item));
  };
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
