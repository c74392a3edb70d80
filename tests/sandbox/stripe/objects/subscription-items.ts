import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageWithin } from '../api/page.ts';
import { changeItems } from '../billing/change-items.ts';
import { StripeError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';
import { type Metadata, newMetadata } from './metadata.ts';
import { planOf } from './plans.ts';
import type { Price } from './prices.ts';
import type { Subscription, SubscriptionItem } from './subscriptions.ts';

type NewItem = {
  subscription: string;
  price: Price;
  quantity?: number;
  metadata?: Metadata;
  period: { start: number; end: number };
  created: number;
};

export function newSubscriptionItem({
  subscription,
  price,
  quantity = 1,
  metadata,
  period,
  created,
}: NewItem): SubscriptionItem {
  return {
    id: newId('si_', 14),
    object: 'subscription_item',
    billed_until: period.end,
    billing_thresholds: null,
    created,
    current_period_start: period.start,
    current_period_end: period.end,
    current_trial: null,
    discounts: [],
    metadata: metadata ?? {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}

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
