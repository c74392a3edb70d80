import type { Stripe } from 'stripe';
import type { EnvScope } from '../env.ts';
import { RequestError } from '../lib/request-error.ts';
import { requireKnown } from './customer.ts';
import { asOwed, stopCollecting } from './invoices.ts';
import type { LeasedCustomer, LeaseResult } from './lease.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import { isDone, isRefusal, StripeRefused, unlessRefused, withStripe } from './stripe-client.ts';
import { idOf, isCancelled, isLive, subscriptionsOf } from './subscriptions.ts';
import { syncLeased } from './sync.ts';

/** Returns when (unix ms) the plan ends. Repeatable. Throws 409, 503. */
export function cancelPlan(
  scope: EnvScope,
  leased: LeasedCustomer,
): Promise<LeaseResult<number | null>> {
  return changeLive(scope, leased, async (stripe, subscription) => {
    await isDone(stopCollecting(stripe, subscription));
    if (isCancelled(subscription)) return subscription;
    await releaseSchedule(stripe, subscription);
    return stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
  });
}

/** Returns null, as nothing ends. */
export function resumePlan(
  scope: EnvScope,
  leased: LeasedCustomer,
): Promise<LeaseResult<number | null>> {
  return changeLive(scope, leased, async (stripe, subscription) => {
    if (!isCancelled(subscription)) return subscription;
    await releaseSchedule(stripe, subscription);
    const undone = subscription.cancel_at_period_end
      ? { cancel_at_period_end: false }
      : { cancel_at: '' as const };
    return stripe.subscriptions.update(subscription.id, undone);
  });
}

type SubscriptionChange = (
  stripe: Stripe,
  subscription: Stripe.Subscription,
) => Promise<Stripe.Subscription>;

async function changeLive(
  scope: EnvScope,
  leased: LeasedCustomer,
  change: SubscriptionChange,
): Promise<LeaseResult<number | null>> {
  const { settings } = scope;
  const { stripeId } = leased.customer;
  const none = new RequestError('conflict', { message: 'You have no subscription.' });
  if (!stripeId) throw none;

  const changed = await withStripe(settings, async (stripe) => {
    await isDone(startPlanAfterTrial(stripe, leased, settings));
    const live = ((await subscriptionsOf(stripe, stripeId, leased.user.id)) ?? []).filter(isLive);
    if (live.length > 0) return changeEach(stripe, live, change);
    await requireKnown(stripe, stripeId);
    throw none;
  });

  const { result: user, ...release } = await syncLeased(scope, leased).catch(unlessRefusedToRead);
  if (user) return { result: user.cancelAt, ...release };
  return {
    result: Math.max(...changed.map(endOf)),
    changes: { dueAt: Date.now() },
  };
}

/** Throws a refusal after the others were changed. */
async function changeEach(
  stripe: Stripe,
  live: Stripe.Subscription[],
  change: SubscriptionChange,
): Promise<Stripe.Subscription[]> {
  const changed: Stripe.Subscription[] = [];
  let refusal: unknown = null;
  for (const subscription of live) {
    const owed = (await unlessRefused(asOwed(stripe, subscription))) ?? subscription;
    const work = change(stripe, owed).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      refusal = error;
      return null;
    });

    const result = await work;
    if (result) changed.push(result);
  }

  if (refusal) throw refusal;
  return changed;
}

function endOf({ cancel_at: cancelAt, items }: Stripe.Subscription): number {
  const ends = items.data.map(({ current_period_end: end }) => end);
  return (cancelAt ?? Math.max(...ends)) * 1000;
}

function unlessRefusedToRead(error: unknown): { result: null } {
  if (error instanceof StripeRefused) return { result: null };
  throw error;
}

/** Stripe refuses to change the end of a subscription while a schedule manages it. */
async function releaseSchedule(stripe: Stripe, { schedule }: Stripe.Subscription): Promise<void> {
  const id = idOf(schedule);
  if (id) await unlessRefused(stripe.subscriptionSchedules.release(id));
}
