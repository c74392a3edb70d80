import type { Stripe } from 'stripe';
import { paidPlanIds, plans, type PaidPlanId } from '../contract/plans.ts';

export function lookupKeyOf(tier: PaidPlanId): string {
  return `${tier}_weekly`;
}

/** The plan that a price sells, by its metadata, then by its lookup key; null for an unknown price. */
export function tierOfPrice(price: Pick<Stripe.Price, 'metadata' | 'lookup_key'>): PaidPlanId | null {
  const tier = price.metadata?.tier ?? price.lookup_key?.replace(/_weekly$/, '') ?? '';
  return paidPlanIds.find((id) => id === tier) ?? null;
}

export async function currentPriceOf(stripe: Stripe, tier: PaidPlanId): Promise<string | null> {
  if (!plans[tier].onSale) return null;
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKeyOf(tier)], active: true, limit: 1 });
  return data[0]?.id ?? null;
}

/** Marks the portals of `npm run stripe:setup`; one with a `price` is for subscriptions at that older price. */
export const portalMetadata = { solace: 'portal' };
