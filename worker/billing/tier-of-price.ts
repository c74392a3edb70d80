import type { Stripe } from 'stripe';
import { paidPlanIds, type PaidPlanId } from '../contract/plans.ts';

/** The lookup key of the weekly price of a plan. */
export function lookupKeyOf(tier: PaidPlanId): string {
  return `${tier}_weekly`;
}

/** The plan that a price sells, by its metadata, then by its lookup key; null for a price we do not know. */
export function tierOfPrice(price: Pick<Stripe.Price, 'metadata' | 'lookup_key'>): PaidPlanId | null {
  const tier = price.metadata?.tier ?? price.lookup_key?.replace(/_weekly$/, '') ?? '';
  return paidPlanIds.find((id) => id === tier) ?? null;
}
