import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageWithin } from '../api/page.ts';
import { changeItems } from '../billing/change-items.ts';
import { StripeError } from '../errors.ts';
import { newMetadata } from './metadata.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

function findItem(world: World, id: string): { subscription: Subscription; item: SubscriptionItem } {
  for (const subscription of world.subscriptions.all()) {
    const item = subscription.items.data.find((item) => item.id === id);
    if (item) return { subscription, item };
  }
  throw new StripeError(404, { type: 'invalid_request_error', message: `Invalid subscription_item id: ${id}` });
}

export function retrieveSubscriptionItem(world: World, call: Call): SubscriptionItem {
  return findItem(world, idOf(call)).item;
}

export function listSubscriptionItems(world: World, { params }: Call<Stripe.SubscriptionItemListParams>) {
  const { items } = world.subscriptions.get(params.subscription, 'subscription');
  return pageWithin(items.data, params, '/v1/subscription_items', 'subscription_item');
}

export function updateSubscriptionItem(
  world: World,
  call: Call<Stripe.SubscriptionItemUpdateParams>,
): SubscriptionItem {
  const { subscription, item } = findItem(world, idOf(call));
  const { price, quantity, metadata, proration_behavior, payment_behavior } = call.params;
  const wanted = {
    id: item.id,
    ...(price !== undefined && { price }),
    ...(quantity !== undefined && { quantity }),
    ...(metadata !== undefined && { metadata: newMetadata(metadata) }),
  };
  changeItems(world, subscription.id, [wanted], { proration: proration_behavior, paymentBehavior: payment_behavior });
  return findItem(world, item.id).item;
}
