import type { Stripe } from 'stripe';
import type { User } from '#db/schema';
import { RequestError } from '../lib/request-error.ts';
import { asOwed, stopCollecting } from './invoices.ts';
import type { LeasedCustomer, Outcome } from './lease.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import { unlessRefused, withStripe } from './stripe-client.ts';
import { idOf, isCancelled, isLive, subscriptionsOf } from './subscriptions.ts';
import { syncLeased, type Billing } from './sync.ts';

/** Returns the user whose plan ends with its paid week. Repeatable. Throws 409 without a subscription, 503. */
export function cancelPlan(billing: Billing, leased: LeasedCustomer): Promise<Outcome<User>> {
  return changeLive(billing, leased, async (stripe, subscription) => {
    await stopCollecting(stripe, subscription);
    if (isCancelled(subscription)) return;
    await releaseSchedule(stripe, subscription);
    await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
  });
}

/** Takes a cancellation back and returns the updated user; a subscription that was not cancelled stays as it is. */
export function resumePlan(billing: Billing, leased: LeasedCustomer): Promise<Outcome<User>> {
  return changeLive(billing, leased, async (stripe, subscription) => {
    if (!isCancelled(subscription)) return;
    await releaseSchedule(stripe, subscription);
    const undone = subscription.cancel_at_period_end
      ? { cancel_at_period_end: false }
      : { cancel_at: '' as const };
    await stripe.subscriptions.update(subscription.id, undone);
  });
}

type Change = (stripe: Stripe, subscription: Stripe.Subscription) => Promise<void>;

async function changeLive(
  billing: Billing,
  leased: LeasedCustomer,
  change: Change,
): Promise<Outcome<User>> {
  const { settings } = billing;
  const { stripeId } = leased.customer;
  const none = new RequestError('conflict', { message: 'You have no subscription.' });
  if (!stripeId) throw none;
  await withStripe(settings, async (stripe) => {
    await startPlanAfterTrial(stripe, leased, settings);
    const live = ((await subscriptionsOf(stripe, stripeId)) ?? []).filter(isLive);
    if (live.length === 0) throw none;
    for (const subscription of live) await change(stripe, await asOwed(stripe, subscription));
  });
  return syncLeased(billing, leased);
}

/** Stripe refuses to change the end of a subscription while a schedule manages it. */
async function releaseSchedule(stripe: Stripe, { schedule }: Stripe.Subscription): Promise<void> {
  const id = idOf(schedule);
  if (id) await unlessRefused(stripe.subscriptionSchedules.release(id));
}
