import { shortDate } from '../interval.ts';
import { formatMoney } from '../money.ts';
import { newId } from '../ids.ts';
import type { Price } from '../objects/prices.ts';
import type { Subscription, SubscriptionItem } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';

export type Period = { start: number; end: number };
export type Line = {
  id: string;
  object: 'line_item';
  amount: number;
  currency: string;
  description: string;
  invoice: string | null;
  parent: object;
  period: Period;
  pricing: object;
  quantity: number;
  quantity_decimal: string;
  subscription: string;
  subtotal: number;
};

const untouched = {
  discount_amounts: [],
  discountable: true,
  discounts: [],
  livemode: false,
  metadata: {},
  pretax_credit_amounts: [],
  taxes: [],
};

type Of = { subscription: Subscription; item: SubscriptionItem; price: Price; period: Period };
type Fields = { amount: number; description: string; proration: boolean };

function newLine({ subscription, item, price, period }: Of, { amount, description, proration }: Fields): Line {
  return {
    ...untouched,
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
    parent: parentOf(subscription.id, item.id, proration),
    period,
    pricing: pricingOf(price),
  };
}

function parentOf(subscription: string, item: string, proration: boolean) {
  const details = { invoice_item: null, proration, proration_details: null, subscription, subscription_item: item };
  return { type: 'subscription_item_details', invoice_item_details: null, subscription_item_details: details };
}

function pricingOf(price: Price) {
  const details = { price: price.id, product: price.product };
  return { type: 'price_details', price_details: details, unit_amount_decimal: price.unit_amount_decimal };
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

/** What is given back for the rest of the old price's period, and what the new one costs for it. */
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

/** What is given back for the rest of an item's period. */
export function creditLine(world: World, subscription: Subscription, item: SubscriptionItem): Line {
  const period = { start: world.now(), end: item.current_period_end };
  const share = (period.end - period.start) / (item.current_period_end - item.current_period_start || 1);
  const amount = -Math.round(item.price.unit_amount * item.quantity * share);
  const description = `Unused time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true });
}

function remainingLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  period: Period,
  share: number,
): Line {
  const amount = Math.round(item.price.unit_amount * item.quantity * share);
  const description = `Remaining time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true });
}

/** What people call the thing that a price sells. */
export function productName(world: World, price: Price): string {
  return world.products.find(price.product)?.name ?? price.nickname ?? price.id;
}
