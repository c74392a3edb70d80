import { invalid } from '../errors.ts';
import { defaultMethod } from './default-method.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** Throws if a subscription costs something and has no payment method. */
export function requireMethod(world: World, subscription: Subscription): void {
  const isFree = subscription.items.data.every(({ price }) => price.unit_amount === 0);
  if (isFree || defaultMethod(world, subscription)) return;
  const message =
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.';
  throw invalid(message, undefined, 'resource_missing');
}
