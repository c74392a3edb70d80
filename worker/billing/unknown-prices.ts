import type { Stripe } from 'stripe';
import { tierOfPrice } from './prices.ts';
import { isLive } from './subscriptions.ts';

/** A price that sells none of our plans, and a live subscription of a user of ours at it. */
export type UnknownPrice = { price: string; subscription: string };

/** The prices without a plan at which a user of ours has a live subscription. */
export async function unknownPricesInUse(stripe: Stripe): Promise<UnknownPrice[]> {
  const found: UnknownPrice[] = [];
  for await (const price of stripe.prices.list({ limit: 100, type: 'recurring' })) {
    if (tierOfPrice(price)) continue;
    // The account may sell other things to other customers.
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
