import { formatMoney } from '../money.ts';
import { newId } from '../ids.ts';
import type { Credited, Line, Period } from '../types/lines.ts';
import type { Price } from '../types/prices.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

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

export function newLine({ subscription, item, price, period }: Of, fields: Fields): Line {
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
