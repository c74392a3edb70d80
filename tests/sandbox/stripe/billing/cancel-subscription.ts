import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { notFound } from '../errors.ts';
import { isEnded } from '../objects/subscriptions.ts';
import { endSubscription } from './end-subscription.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** Ends a subscription at once. Throws 404 for one that has ended. */
export function cancelSubscription(world: World, call: Call<Stripe.SubscriptionCancelParams>): Subscription {
  const { invoice_now: invoiceNow = false, prorate = false, cancellation_details: details } = call.params;
  const subscription = world.subscriptions.get(idOf(call));
  if (isEnded(subscription)) throw notFound('subscription', subscription.id);
  world.subscriptions.change(
    subscription.id,
    ({ cancellation_details: own }) => {
      own.comment = details?.comment || own.comment;
      own.feedback = details?.feedback || own.feedback;
    },
    null,
  );
  return endSubscription(world, subscription.id, { invoiceNow, prorate });
}
