import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { log } from '../log.ts';
import { isLive } from './is-live.ts';
import type { Leased } from './lease.ts';
import { priceOf } from './price-of.ts';
import { isRefusal, unlessMissing } from './stripe.ts';

/**
 * Sees to a checkout that saves a card for the plan after the trial: once it is complete, the subscription is made and
 * waits for the trial's end. Answers the session while it is still open, else null.
 */
export async function fulfilTrialPlan(stripe: Stripe, leased: Leased, sessionId: string): Promise<string | null> {
  const expand = ['setup_intent'];
  const session = await unlessMissing(stripe.checkout.sessions.retrieve(sessionId, { expand }));
  if (session?.status === 'open') return sessionId;
  if (session?.status !== 'complete') return null;
  const intent = session.setup_intent as Stripe.SetupIntent;
  const method = typeof intent.payment_method === 'string' ? intent.payment_method : intent.payment_method!.id;
  const customer = leased.customer.stripeId!;
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } });
  const { data } = await stripe.subscriptions.list({ customer, limit: 100 });
  if (!data.some(isLive)) await subscribe(stripe, leased, session);
  return null;
}

async function subscribe(stripe: Stripe, { customer, user }: Leased, session: Stripe.Checkout.Session): Promise<void> {
  const tier = session.metadata!.tier as PaidPlanId;
  const order: Stripe.SubscriptionCreateParams = {
    customer: customer.stripeId!,
    items: [{ price: await priceOf(stripe, tier) }],
    billing_mode: { type: 'flexible' },
    metadata: { userId: user.id, tier },
  };
  const trialEnd = Math.floor((user.trialEndsAt ?? 0) / 1000);
  try {
    if (trialEnd * 1000 <= Date.now()) await atOnce(stripe, order, session.id);
    else
      await stripe.subscriptions.create({ ...order, trial_end: trialEnd }, { idempotencyKey: `waiting:${session.id}` });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await atOnce(stripe, order, session.id).catch((refusal: unknown) => {
      if (!isRefusal(refusal)) throw refusal;
      log('error', 'trial_plan_refused', { session: session.id });
    });
  }
}

/** Where the trial has ended in the meantime, by our clock or by Stripe's. */
function atOnce(stripe: Stripe, order: Stripe.SubscriptionCreateParams, sessionId: string): Promise<unknown> {
  const now = { ...order, payment_behavior: 'error_if_incomplete' as const };
  return stripe.subscriptions.create(now, { idempotencyKey: `at-once:${sessionId}` });
}
