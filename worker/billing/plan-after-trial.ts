import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { log, phoneTag } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { planAfterTrialMetadata } from './subscription-state.ts';
import type { LeasedCustomer } from './lease.ts';
import { startMetadataIn } from './start-choice.ts';
import { unlessMissing, unlessRefused } from './stripe-client.ts';
import { currentPriceOf, idOf, isLive } from './subscriptions.ts';
import { dayMs } from '../lib/time.ts';

type PlanAfterTrial = {
  session: string | null;
  offSaleTier: PaidPlanId | null;
};

const finished: PlanAfterTrial = { session: null, offSaleTier: null };

export async function startPlanAfterTrial(
  stripe: Stripe,
  leased: LeasedCustomer,
  settings: Settings,
): Promise<PlanAfterTrial> {
  const { setupSession, stripeId } = leased.customer;
  if (!setupSession || !stripeId) return finished;

  const expand = ['setup_intent.payment_method'];
  const session = await unlessMissing(stripe.checkout.sessions.retrieve(setupSession, { expand }));
  if (session?.status === 'open') return { ...finished, session: setupSession };
  if (session?.status !== 'complete') return finished;

  requireOrderer(session, leased.user.id);

  const saved = await saveCard(stripe, stripeId, session);
  if (!saved) return refused(leased, settings, 'customer_missing');

  const { data } = await stripe.subscriptions.list({
    customer: stripeId,
    limit: 100,
  });
  if (data.some(isLive)) return finished;

  const tier = session.metadata!.tier as PaidPlanId;
  const price = await currentPriceOf(stripe, tier);
  if (!price)
    return {
      ...(await refused(leased, settings, 'off_sale')),
      offSaleTier: tier,
    };

  const order: Stripe.SubscriptionCreateParams = {
    customer: stripeId,
    items: [{ price }],
    billing_mode: { type: 'flexible' },
    metadata: {
      ...planAfterTrialMetadata,
      userId: leased.user.id,
      tier,
      ...startMetadataIn(session.metadata),
    },
    ...(settings.require('AUTOMATIC_TAX') && { automatic_tax: { enabled: true } }),
  };

  return (await subscribe(stripe, leased, order))
    ? finished
    : refused(leased, settings, 'subscription_refused');
}

/** A changed row may name another person's checkout. */
function requireOrderer({ metadata }: Stripe.Checkout.Session, userId: string): void {
  if (metadata?.userId === userId) return;
  log('error', 'row_not_bound', { table: 'customers' });
  throw new RequestError('unavailable');
}

async function refused(
  { user, customer: { setupSession: session } }: LeasedCustomer,
  { CODE_PEPPER: [pepper] }: Pick<Settings, 'CODE_PEPPER'>,
  reason: string,
): Promise<PlanAfterTrial> {
  const action =
    'The plan does not start when the trial ends. Ask the user to choose a plan again.';
  const phone = await phoneTag(pepper!, user.phone);
  log('error', 'trial_plan_refused', { session, reason, phone, action });
  return finished;
}

/** The card's billing address determines the tax. */
async function saveCard(
  stripe: Stripe,
  customer: string,
  { setup_intent }: Stripe.Checkout.Session,
) {
  const method = typeof setup_intent === 'object' ? setup_intent?.payment_method : null;
  const id = idOf(method);
  if (!id) return null;

  const address = typeof method === 'object' ? method?.billing_details.address : null;
  const changes: Stripe.CustomerUpdateParams = { invoice_settings: { default_payment_method: id } };
  if (address?.country) changes.address = withoutNulls(address);
  return unlessMissing(stripe.customers.update(customer, changes));
}

function withoutNulls(address: Stripe.Address): Stripe.AddressParam {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => value !== null));
}

type Beginning = Pick<
  Stripe.SubscriptionCreateParams,
  'trial_end' | 'trial_period_days' | 'payment_behavior'
>;

async function subscribe(
  stripe: Stripe,
  { user, customer }: LeasedCustomer,
  order: Stripe.SubscriptionCreateParams,
): Promise<boolean> {
  const left = (user.trialEndsAt ?? 0) - Date.now();
  const beginnings: Beginning[] =
    left > 0
      ? [
          { trial_end: Math.floor(user.trialEndsAt! / 1000) },
          { trial_period_days: Math.ceil(left / dayMs) },
        ]
      : [{ payment_behavior: 'error_if_incomplete' }];

  for (const beginning of beginnings) {
    const when = beginning.trial_end ?? beginning.trial_period_days ?? 'at-once';
    const idempotencyKey = `${customer.setupSession}:${when}:${customer.attempt}`;
    if (
      await unlessRefused(
        stripe.subscriptions.create({ ...order, ...beginning }, { idempotencyKey }),
      )
    )
      return true;
  }
  return false;
}
