import type { Invoice, Credited, Line, Period, Price, Subscription, SubscriptionItem } from '../objects.ts';
import { formatMoney } from '../hosted/layout.ts';
import { newId } from '../table.ts';
import type { World } from '../world.ts';
import { shortDate } from '../clock.ts';

const untouched = {
  discount_amounts: [],
  discounts: [],
  livemode: false,
  metadata: {},
  pretax_credit_amounts: [],
  taxes: [],
};

type Of = { subscription: Subscription; item: SubscriptionItem; price: Price; period: Period };
type Fields = { amount: number; description: string; proration: boolean; credited?: Credited | undefined };

function newLine({ subscription, item, price, period }: Of, fields: Fields): Line {
  const { amount, description, proration } = fields;
  return {
    ...untouched,
    discountable: !proration,
    id: newId('il_1'),
    object: 'line_item',
    amount,
    subtotal: amount,
    currency: price.currency,
    quantity: item.quantity,
    quantity_decimal: String(item.quantity),
    description,
    invoice: null,
    subscription: subscription.id,
    parent: parentOf(subscription.id, item.id, fields),
    period,
    pricing: pricingOf(price, proration),
  };
}

function parentOf(subscription: string, item: string, { proration, credited }: Fields) {
  const details = {
    invoice_item: proration ? newId('ii_1') : null,
    proration,
    proration_details: { credited_items: credited ?? null },
    subscription,
    subscription_item: item,
  };
  return { type: 'subscription_item_details', invoice_item_details: null, subscription_item_details: details };
}

function pricingOf(price: Price, proration: boolean) {
  const details = { price: price.id, product: price.product };
  const unit_amount_decimal = proration ? null : price.unit_amount_decimal;
  return { type: 'price_details', price_details: details, unit_amount_decimal };
}

/** A whole period of an item. */
export function periodLine(world: World, subscription: Subscription, item: SubscriptionItem, period: Period): Line {
  const { price, quantity } = item;
  const cost = `${formatMoney(price.unit_amount, price.currency)} / ${price.recurring?.interval ?? 'week'}`;
  const description = `${quantity} × ${productName(world, price)} (at ${cost})`;
  const fields = { amount: price.unit_amount * quantity, description, proration: false };
  return newLine({ subscription, item, price, period }, fields);
}

export function trialLine(world: World, subscription: Subscription, item: SubscriptionItem, period: Period): Line {
  const description = `Trial period for ${productName(world, item.price)}`;
  return newLine({ subscription, item, price: item.price, period }, { amount: 0, description, proration: false });
}

/** The product name of a price. */
export function productName(world: World, price: Price): string {
  return world.products.find(price.product)?.name ?? price.nickname ?? price.id;
}

export function subscriptionOf({ parent }: Invoice): string | undefined {
  return parent?.subscription_details.subscription;
}

export function invoiceDueAt({
  status,
  automatically_finalizes_at: draftEnds,
  next_payment_attempt: attempt,
}: Invoice) {
  if (status === 'draft') return draftEnds;
  return status === 'open' ? attempt : null;
}

/** The credit for the rest of the period at the old price, and the charge for it at the new one. */
export function prorationLines(
  world: World,
  subscription: Subscription,
  before: SubscriptionItem,
  after: SubscriptionItem,
): Line[] {
  const period = { start: world.now(), end: before.current_period_end };
  const length = before.current_period_end - before.current_period_start;
  const share = length === 0 ? 0 : (period.end - period.start) / length;
  return [creditLine(world, subscription, before), remainingLine(world, subscription, after, period, share)];
}

/** The credit for the rest of an item's period. */
export function creditLine(world: World, subscription: Subscription, item: SubscriptionItem): Line {
  const period = { start: world.now(), end: item.current_period_end };
  const share = (period.end - period.start) / (item.current_period_end - item.current_period_start || 1);
  const amount = toCents(-item.price.unit_amount * item.quantity * share);
  const description = `Unused time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  const credited = subscription._.billed[item.id];
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true, credited });
}

/** Recorded: Stripe rounds each line, and half a cent towards minus infinity. */
function toCents(amount: number): number {
  return Math.ceil(amount - 0.5);
}

function remainingLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  period: Period,
  share: number,
): Line {
  const amount = toCents(item.price.unit_amount * item.quantity * share);
  const description = `Remaining time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true });
}

/** Whether a form enables automatic tax; its value is a text. */
export function isTaxed({ automatic_tax: tax }: { automatic_tax?: { enabled: boolean } | undefined }): boolean {
  return String(tax?.enabled) === 'true';
}
