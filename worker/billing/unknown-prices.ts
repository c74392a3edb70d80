import type { Stripe } from 'stripe';
import { tierOfPrice } from './prices.ts';
import { isLive } from './subscriptions.ts';

/** A price without one of our plans, and a user's live subscription at it. */
export type UnknownPrice = { price: string; subscription: string };

/** The prices without a plan at which a user has a live subscription. */
export async function unknownPricesInUse(stripe: Stripe): Promise<UnknownPrice[]> {
  const found: UnknownPrice[] = [];
  for await (const price of stripe.prices.list({ limit: 100, type: 'recurring' })) {
    if (tierOfPrice(price)) continue;
    // The Stripe account may sell other products to other customers.
    for await (const subscription of stripe.subscriptions.list({
      price: price.id,
      limit: 100,
      expand: ['data.customer'],
    })) {
      const { customer, items } = subscription;
      const ours = typeof customer === 'object' && !customer.deleted && customer.metadata.userId !== undefined;
      if (!ours || !isLive(subscription) || items.data.some((item) => tierOfPrice(item.price))) continue;
      found.push({ price: price.id, subscription: subscription.id });
      break;
    }
  }
  return found;
}
