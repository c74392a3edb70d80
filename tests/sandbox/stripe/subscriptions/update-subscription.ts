import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { ownMethod } from '../payments/payment-methods.ts';
import { isEnded, applyCancellation, periodEnd } from './subscriptions.ts';
import { endTrial, movePeriod, periodFrom, newSubscriptionItem } from './periods.ts';
import type { Subscription, SubscriptionItem, Line } from '../objects.ts';
import { planOf, recurringPrice } from '../catalogue.ts';
import { setDiscounts } from '../coupons.ts';
import { collectInvoice } from '../invoices/collect-invoice.ts';
import { invoiceSubscription } from '../invoices/invoices.ts';
import { periodLine, prorationLine } from '../invoices/lines.ts';
import { refuseIncomplete } from '../payments/charges.ts';

type Params = Stripe.SubscriptionUpdateParams;

export function updateSubscription(world: World, call: Call<Params>): Subscription {
  const id = idOf(call);
  const { params } = call;
  const { status } = world.subscriptions.get(id);
  refuseChange(status, params);
  applyFields(world, id, params);
  setDiscounts(world, id, params.discounts);
  applyCancellation(world, id, params);
  changeItems(world, id, params.items ?? [], {
    proration: params.proration_behavior,
    mustPay: params.payment_behavior === 'error_if_incomplete',
    restart: (params.billing_cycle_anchor as { type?: string } | undefined)?.type === 'now',
  });
  if (params.trial_end && status === 'trialing')
    endTrial(world, id, world.now(), { isRequested: true });
  return world.subscriptions.get(id);
}

/** Before the first invoice is paid, changes that create another invoice are refused. */
function refuseChange(status: Subscription['status'], params: Params): void {
  const isEnd = isEnded({ status });
  if (isEnd && Object.keys(params).some((name) => !['metadata', 'expand'].includes(name))) {
    const message =
      'A canceled subscription can only update its cancellation_details and metadata.';
    throw invalid(message, undefined, 'invalid_canceled_subscription_fields');
  }
  if (
    status === 'incomplete' &&
    ['items', 'trial_end', 'billing_cycle_anchor'].some((name) => name in params)
  ) {
    throw invalid(
      'You cannot update a subscription in `incomplete` status in such a way that results in updating or creating an invoice.',
    );
  }
}

function applyFields(world: World, id: string, params: Params): void {
  const { default_payment_method: method, metadata, pause_collection: pause } = params;
  if (pause && pause.resumes_at !== undefined && pause.resumes_at <= world.now())
    throw invalid(
      '`pause_collection[resumes_at]` must be in the future.',
      'pause_collection[resumes_at]',
    );
  if (method)
    ownMethod(world, world.subscriptions.get(id).customer, method, 'default_payment_method');
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, given(params, 'default_payment_method', 'description'));
    if (pause !== undefined)
      subscription.pause_collection = pause
        ? {
            resumes_at: null,
            ...pause,
          }
        : null;
    subscription.metadata = mergeMetadata(subscription.metadata, metadata);
  });
}

type WantedItem = { id?: string; price?: string; quantity?: number };
type Manner = {
  proration?: string | undefined;
  /** A change whose payment fails does not take place. */
  mustPay?: boolean;
  /** Starts a new period now. */
  restart?: boolean;
  /** The cardholder has authenticated the payment. */
  isAuthenticated?: boolean | undefined;
};

/** Changes a subscription's items, and charges or credits the difference as the options say. */
export function changeItems(world: World, id: string, wanted: WantedItem[], options: Manner): void {
  const before = world.subscriptions.get(id);
  const items = mergeItems(world, before, wanted);
  if (items.every((item) => isSame(item, before)) && !options.restart) return;
  const isCharged = before.status === 'active' || before.status === 'past_due';
  const restart = isCharged && (options.restart === true || hasNewInterval(before, items));
  const manner = { ...options, restart };
  const lines = isCharged ? linesFor(world, before, items, manner) : [];
  const edit = (subscription: Subscription) => {
    subscription.items.data = items;
    if (!restart) return;
    subscription.billing_cycle_anchor = world.now();
    for (const item of items) movePeriod(item, periodFrom(world.now(), item.price));
  };
  if (restart || (manner.proration === 'always_invoice' && lines.length > 0)) {
    invoiceChange(world, id, { ...manner, lines, edit });
    return;
  }
  world.subscriptions.change(id, (subscription) => {
    edit(subscription);
    subscription._.pending.push(...lines);
  });
}

function mergeItems(
  world: World,
  subscription: Subscription,
  wanted: WantedItem[],
): SubscriptionItem[] {
  const items = new Map(subscription.items.data.map((item) => [item.id, { ...item }]));
  for (const { id, price, quantity } of wanted) {
    const item = id === undefined ? addedItem(world, subscription, price) : items.get(id);
    if (!item) throw missing('subscription_item', id ?? '', 'items[0][id]');
    if (price !== undefined) item.price = recurringPrice(world, price, 'items[0][price]');
    item.plan = planOf(item.price);
    item.quantity = quantity ?? item.quantity;
    items.set(item.id, item);
  }
  return [...items.values()];
}

function addedItem(world: World, subscription: Subscription, id = ''): SubscriptionItem {
  const created = world.now();
  const period = { start: created, end: periodEnd(subscription) };
  const price = recurringPrice(world, id, 'items[0][price]');
  return newSubscriptionItem({
    subscription: subscription.id,
    created,
    period,
    price,
  });
}

function isSame(
  { id, price, quantity }: SubscriptionItem,
  { items: { data } }: Subscription,
): boolean {
  return data.some(
    (old) => old.id === id && old.price.id === price.id && old.quantity === quantity,
  );
}

/** Another interval starts a new period at once. */
function hasNewInterval({ items: { data } }: Subscription, items: SubscriptionItem[]): boolean {
  const lengths = [...data, ...items].map(
    ({ price: { recurring: of } }) => `${of.interval_count} ${of.interval}`,
  );
  return new Set(lengths).size > 1;
}

function linesFor(
  world: World,
  before: Subscription,
  items: SubscriptionItem[],
  manner: Manner,
): Line[] {
  const { proration, restart } = manner;
  const whole = restart
    ? items.map((item) => periodLine(world, before, item, periodFrom(world.now(), item.price)))
    : [];
  if (proration === 'none') return whole;
  const changed = restart ? [] : items.filter((item) => !isSame(item, before));
  const credited = before.items.data.filter(
    (old) => restart || changed.some(({ id }) => id === old.id),
  );
  return [
    ...credited.map((item) => prorationLine(world, before, item, 'credit')),
    ...changed.map((item) => prorationLine(world, before, item, 'charge')),
    ...whole,
  ];
}

type Change = Manner & {
  lines: Line[];
  edit: (subscription: Subscription) => void;
};

function invoiceChange(world: World, id: string, change: Change): void {
  const { lines, edit, mustPay, restart, isAuthenticated } = change;
  const now = world.now();
  const invoice = invoiceSubscription(world, id, {
    reason: 'subscription_update',
    lines,
    edit,
    collect: mustPay ? 'none' : 'now',
    ...(restart && { period: { start: now, end: now } }),
  });
  if (!mustPay || world.invoices.get(invoice).status === 'paid') return;
  refuseIncomplete(collectInvoice(world, invoice, { isAuthenticated }));
}
