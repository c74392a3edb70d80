import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { log } from '../log.ts';
import { isLive } from './is-live.ts';
import type { Leased } from './lease.ts';
import { priceOf } from './price-of.ts';
import { trialPlanMark } from './trial-plan-mark.ts';
import { isRefusal, unlessMissing } from './stripe.ts';

const dayMs = 86_400_000;

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
  const saved = stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } });
  if (!(await unlessMissing(saved))) {
    log('error', 'trial_plan_refused', { session: session.id });
    return null;
  }
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
    metadata: { ...trialPlanMark, userId: user.id, tier },
  };
  const left = (user.trialEndsAt ?? 0) - Date.now();
  const endings: Ending[] =
    left > 0
      ? [{ trial_end: Math.floor(user.trialEndsAt! / 1000) }, { trial_period_days: Math.ceil(left / dayMs) }]
      : [{ payment_behavior: 'error_if_incomplete' }];
  for (const ending of endings) if (await accepted(stripe, { ...order, ...ending }, session.id)) return;
  log('error', 'trial_plan_refused', { session: session.id });
}

/**
 * When the plan begins: at the trial's end, or after the days that are left where Stripe's clock is past that end
 * already (nobody is charged while the trial runs), or at once when the trial is over.
 */
type Ending = Pick<Stripe.SubscriptionCreateParams, 'trial_end' | 'trial_period_days' | 'payment_behavior'>;

async function accepted(stripe: Stripe, order: Stripe.SubscriptionCreateParams, sessionId: string): Promise<boolean> {
  const idempotencyKey = `${sessionId}:${order.trial_end ?? order.trial_period_days ?? 'at-once'}`;
  try {
    await stripe.subscriptions.create(order, { idempotencyKey });
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}
