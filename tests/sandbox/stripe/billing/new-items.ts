import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import { newMetadata } from '../objects/metadata.ts';
import { recurringPrice } from '../objects/recurring-price.ts';
import { newSubscriptionItem } from '../objects/new-subscription-item.ts';
import { periodFrom } from './renew-subscription.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.SubscriptionCreateParams;

/** The items of a new subscription; their first period ends with its trial, if it has one. */
export function newItems(world: World, subscription: string, params: Params, trialEnd: number | null) {
  const wanted = params.items ?? [];
  if (wanted.length === 0) throw invalid('Missing required param: items.', 'items', 'parameter_missing');
  const prices = wanted.map(({ price }) => price);
  const twice = prices.find((price, index) => prices.indexOf(price) !== index);
  if (twice) {
    throw invalid(
      `Cannot create a Subscription with multiple Subscription Items with the same Price: ${twice}`,
      'plan',
    );
  }
  const items = wanted.map(({ price: id, quantity = 1, metadata }, index) => {
    const price = recurringPrice(world, id ?? '', `items[${index}][price]`);
    const period = { start: world.now(), end: trialEnd ?? 0 };
    return newSubscriptionItem({
      subscription,
      price,
      quantity,
      metadata: newMetadata(metadata),
      period,
      created: world.now(),
    });
  });
  if (trialEnd !== null) return items;
  return items.map((item) => {
    const { end } = periodFrom(world.now(), item);
    return { ...item, current_period_end: end, billed_until: end };
  });
}
