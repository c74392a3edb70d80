import type { Stripe } from 'stripe';
import { plans, type PaidPlanId } from '../contract/plans.ts';
import { idOf } from './subscriptions.ts';

/** The last paid week: its start in unix ms, and its plan, null for an unknown price. */
export type PaidWeek = { start: number; tier: PaidPlanId | null };

type Prices = ReadonlyMap<string, PaidPlanId | null>;

/** The last week that a subscription's paid invoices cover; null before the first payment; a free trial is none. */
export function paidWeekOf(invoices: Stripe.Invoice[], prices: Prices): PaidWeek | null {
  const paid = invoices.flatMap(({ lines }) => lines.data).filter(({ amount }) => amount > 0);
  const [week] = paid.filter((line) => !isProration(line)).toSorted((a, b) => b.period.start - a.period.start);
  if (!week) return null;
  // An upgrade within the week is paid by a proration that ends with the week.
  const tiers = paid
    .filter(({ period }) => period.end === week.period.end)
    .flatMap((line) => prices.get(priceOfLine(line) ?? '') ?? []);
  const [tier = null] = tiers.toSorted((a, b) => plans[b].level - plans[a].level);
  return { start: week.period.start * 1000, tier };
}

/** The id of the price that an invoice line charges. */
export function priceOfLine({ pricing }: Stripe.InvoiceLineItem): string | null {
  return idOf(pricing?.price_details?.price);
}

function isProration({ parent }: Stripe.InvoiceLineItem): boolean {
  return parent?.subscription_item_details?.proration ?? parent?.invoice_item_details?.proration ?? false;
}
