import type { Invoice, Line, Period, Price, Subscription, SubscriptionItem } from '../objects.ts';
import { formatMoney } from '../currencies.ts';
import { discountBilled, discountOf, discountsOn } from '../coupons.ts';
import { newId, newObject } from '../table.ts';
import type { World } from '../world.ts';
import { shortDate } from '../clock.ts';

type Fields = Pick<Line, 'amount' | 'description' | 'period'> &
  Partial<Pick<Line, 'discount_amounts'>> & { proration: boolean };

function newLine(
  subscription: Subscription,
  { id: item, price, quantity }: SubscriptionItem,
  fields: Fields,
): Line {
  const { proration, ...shown } = fields;
  const details = {
    invoice_item: proration ? newId('ii_1') : null,
    proration,
    proration_details: {
      credited_items: shown.amount < 0 ? (subscription._.billed[item] ?? null) : null,
    },
    subscription: subscription.id,
    subscription_item: item,
  };
  const parent = {
    type: 'subscription_item_details',
    invoice_item_details: null,
    subscription_item_details: details,
  };
  return newObject<Line>({
    ...shown,
    discountable: !proration,
    id: newId('il_1'),
    object: 'line_item',
    subtotal: shown.amount,
    currency: price.currency,
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    parent,
    pricing: {
      type: 'price_details',
      price_details: { price: price.id, product: price.product },
      unit_amount_decimal: proration ? null : price.unit_amount_decimal,
    },
  });
}

/** A whole period of an item. */
export function periodLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  period: Period,
): Line {
  const { price, quantity } = item;
  const cost = `${formatMoney(price.unit_amount, price.currency)} / ${price.recurring.interval}`;
  const description = `${quantity} × ${productName(world, price)} (at ${cost})`;
  const amount = price.unit_amount * quantity;
  const discounts = discountsOn(world, subscription, amount);
  return newLine(subscription, item, {
    amount,
    description,
    ...(discounts.length > 0 && { discount_amounts: discounts }),
    period,
    proration: false,
  });
}

export function trialLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  period: Period,
): Line {
  const description = `Trial period for ${productName(world, item.price)}`;
  return newLine(subscription, item, {
    amount: 0,
    description,
    period,
    proration: false,
  });
}

type Proration = 'credit' | 'charge';

/** The credit for the rest of an item's period, or the charge for it. */
export function prorationLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  kind: Proration,
): Line {
  const { price, quantity, current_period_start: start, current_period_end: end } = item;
  const period = { start: world.now(), end };
  const gross = price.unit_amount * quantity;
  const off =
    kind === 'credit'
      ? discountBilled(world, subscription._.billed[item.id])
      : discountOf({ discount_amounts: discountsOn(world, subscription, gross) });
  const amount = ((gross - off) * (end - period.start)) / (end - start || 1);
  const what = kind === 'credit' ? 'Unused time on' : 'Remaining time on';
  return newLine(subscription, item, {
    // Recorded: Stripe rounds each line, and half a cent towards minus infinity.
    amount: Math.ceil((kind === 'credit' ? -amount : amount) - 0.5),
    description: `${what} ${productName(world, price)} after ${shortDate(period.start)}`,
    period,
    proration: true,
  });
}

/** The product name of a price. */
export const productName = (world: World, price: Price): string =>
  world.products.get(price.product).name;

export const subscriptionOf = ({ parent }: Invoice): string | undefined =>
  parent?.subscription_details.subscription;

export function invoiceDueAt({ status, ...invoice }: Invoice): number | null {
  if (status === 'draft') return invoice.automatically_finalizes_at;
  return status === 'open' ? invoice.next_payment_attempt : null;
}
