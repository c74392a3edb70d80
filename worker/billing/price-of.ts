import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { lookupKeyOf } from './tier-of-price.ts';

/** The id of the price that a plan is sold at today. */
export async function priceOf(stripe: Stripe, tier: PaidPlanId): Promise<string> {
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKeyOf(tier)], active: true, limit: 1 });
  if (!data[0]) throw new Error(`Stripe has no active price with the lookup key ${lookupKeyOf(tier)}`);
  return data[0].id;
}
