import type { Stripe } from 'stripe';
import { invalid } from './api/errors.ts';
import type { Coupon, Credited, Line, Subscription } from './objects.ts';
import { newId } from './table.ts';
import { type Call, newMetadata, type World } from './world.ts';

/*
 * A coupon lowers each whole week of the subscriptions that have it. Prorations have it in their amounts
 * (`proration_discounts: 'included'`). https://docs.stripe.com/billing/subscriptions/coupons
 */

export function createCoupon(world: World, { params }: Call<Stripe.CouponCreateParams>): Coupon {
  const { amount_off: amount = null, percent_off: percent = null, currency } = params;
  if ((amount === null) === (percent === null))
    throw invalid('You must pass either percent_off or amount_off, but not both.');
  if (amount !== null && !currency) throw invalid('Missing required param: currency.', 'currency');
  if (percent !== null && (percent <= 0 || percent > 100))
    throw invalid('percent_off must be between 0 and 100.', 'percent_off');

  return world.coupons.insert({
    id: params.id ?? newId('', 8),
    object: 'coupon',
    amount_off: amount,
    created: world.now(),
    currency: currency?.toLowerCase() ?? null,
    duration: 'forever',
    metadata: newMetadata(params.metadata),
    name: params.name ?? null,
    percent_off: percent,
  });
}

type Wanted = Stripe.Emptyable<{ coupon?: string }[]> | undefined;

/** Replaces the discounts of a subscription. */
export function setDiscounts(world: World, id: string, wanted: Wanted): void {
  if (wanted === undefined) return;

  const { customer } = world.subscriptions.get(id);
  const discounts = (wanted || []).map(({ coupon = '' }) =>
    world.discounts.insert({
      id: newId('di_1'),
      object: 'discount',
      customer,
      source: {
        coupon: world.coupons.get(coupon, 'discounts[0][coupon]').id,
        type: 'coupon',
      },
      start: world.now(),
      subscription: id,
    }),
  );
  world.subscriptions.change(id, { discounts: discounts.map((each) => each.id) });
}

type Off = { amount: number; discount: string };

/** What the discounts of a subscription take from an amount, one after the other. */
export function discountsOn(world: World, { discounts }: Subscription, amount: number): Off[] {
  const all: Off[] = [];
  for (const id of discounts) {
    const { source } = world.discounts.get(id);
    const { amount_off: off, percent_off: percent } = world.coupons.get(source.coupon);
    const rest = amount - sumOf(all);
    const taken = off ?? Math.round((rest * (percent ?? 0)) / 100);
    all.push({ amount: Math.min(taken, rest), discount: id });
  }
  return all;
}

export const discountOf = ({ discount_amounts: all }: Pick<Line, 'discount_amounts'>): number =>
  sumOf(all ?? []);

/** What discounts took from the lines that billed an item's period. */
export function discountBilled(world: World, billed: Credited | undefined): number {
  if (!billed) return 0;
  const lines = world.invoices.get(billed.invoice).lines.data;
  const own = lines.filter(({ id }) => billed.invoice_line_items.includes(id));
  return own.reduce((sum, line) => sum + discountOf(line), 0);
}

const sumOf = (all: { amount: number }[]): number =>
  all.reduce((sum, { amount }) => sum + amount, 0);
