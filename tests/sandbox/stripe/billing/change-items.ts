import { invalid, missing } from '../errors.ts';
import { planOf } from '../objects/plans.ts';
import { recurringPrice } from '../objects/recurring-price.ts';
import { newSubscriptionItem } from '../objects/new-subscription-item.ts';
import { periodEnd } from '../objects/subscriptions.ts';
import { collectInvoice } from './collect-invoice.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine } from './lines.ts';
import { creditLine, prorationLines } from './proration-lines.ts';
import { refuseIncomplete } from './refuse-incomplete.ts';
import { movePeriod, periodFrom } from './renew-subscription.ts';
import type { Line } from '../types/lines.ts';
import type { Metadata } from '../types/metadata.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

export type WantedItem = { id?: string; price?: string; quantity?: number; deleted?: boolean; metadata?: Metadata };
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
