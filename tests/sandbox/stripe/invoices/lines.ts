import type { Invoice, Credited, Line, Period, Price, Subscription, SubscriptionItem } from '../objects.ts';
import { formatMoney } from '../hosted/layout.ts';
import { newId, withBlanks } from '../table.ts';
import type { World } from '../world.ts';
import { shortDate } from '../clock.ts';

const untouched = { discount_amounts: [], discounts: [], metadata: {}, pretax_credit_amounts: [], taxes: [] };

type Of = { subscription: Subscription; item: SubscriptionItem; period: Period };
type Fields = { amount: number; description: string; proration: boolean; credited?: Credited | null };

function newLine(
  { subscription, item, period }: Of,
  { amount, description, proration, credited = null }: Fields,
): Line {
  const { id: priceId, currency, product, unit_amount_decimal } = item.price;
  const details = {
    invoice_item: proration ? newId('ii_1') : null,
    proration,
    proration_details: { credited_items: credited },
    subscription: subscription.id,
    subscription_item: item.id,
  };
  return withBlanks<Line>({
    ...untouched,
    id: newId('il_1'),
    object: 'line_item',
    amount,
    currency,
    description,
    discountable: !proration,
    parent: { type: 'subscription_item_details', invoice_item_details: null, subscription_item_details: details },
    period,
    pricing: {
      type: 'price_details',
      price_details: { price: priceId, product },
      unit_amount_decimal: proration ? null : unit_amount_decimal,
    },
    quantity: 1,
    quantity_decimal: '1',
    subscription: subscription.id,
    subtotal: amount,
  });
}

/** A whole period of an item. */
export function periodLine(world: World, subscription: Subscription, item: SubscriptionItem, period: Period): Line {
  const { currency, recurring, unit_amount: amount } = item.price;
  const cost = `${formatMoney(amount, currency)} / ${recurring?.interval ?? 'week'}`;
  const description = `1 × ${productName(world, item.price)} (at ${cost})`;
  return newLine({ subscription, item, period }, { amount, description, proration: false });
}

export function trialLine(world: World, subscription: Subscription, period: Period): Line {
  const [item] = subscription.items.data;
  const description = `Trial period for ${productName(world, item.price)}`;
  return newLine({ subscription, item, period }, { amount: 0, description, proration: false });
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

/** The share of an item's period that is left. */
function rest(world: World, { current_period_start: start, current_period_end: end }: SubscriptionItem) {
  const now = world.now();
  return { period: { start: now, end }, share: (end - now) / (end - start || 1) };
}

/** The credit for the rest of the period at the old price. */
export function creditLine(world: World, subscription: Subscription): Line {
  const [item] = subscription.items.data;
  const { period, share } = rest(world, item);
  const description = `Unused time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  const fields = { description, proration: true, credited: subscription._.billed };
  return newLine({ subscription, item, period }, { ...fields, amount: toCents(-item.price.unit_amount * share) });
}

/** The charge for the rest of the period at the new price. */
export function remainingLine(world: World, subscription: Subscription, item: SubscriptionItem): Line {
  const { period, share } = rest(world, item);
  const description = `Remaining time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  const fields = { description, proration: true };
  return newLine({ subscription, item, period }, { ...fields, amount: toCents(item.price.unit_amount * share) });
}

/** Recorded: Stripe rounds each line, and half a cent towards minus infinity. */
function toCents(amount: number): number {
  return Math.ceil(amount - 0.5);
}

/** Whether a form enables automatic tax; its value is a text. */
export function isTaxed({ automatic_tax: tax }: { automatic_tax?: { enabled: boolean } | undefined }): boolean {
  return String(tax?.enabled) === 'true';
}
