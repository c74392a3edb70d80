import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { entitledTier } from '../usage/entitlement.ts';
import type { User } from '../usage/profile.ts';
import { priceOf } from './price-of.ts';
import { isRefusal } from './stripe.ts';

type Wanted = { customer: string; user: User; tier: PaidPlanId; siteUrl: string; now: number };

/**
 * The one open checkout of a customer for a plan: the one that is open already, else a new one, after all others are
 * closed. During a trial it saves a card for the plan that follows. Call it while the customer is leased.
 */
export async function openCheckout(stripe: Stripe, wanted: Wanted): Promise<Stripe.Checkout.Session> {
  const metadata = metadataOf(wanted);
  const { data } = await stripe.checkout.sessions.list({ customer: wanted.customer, status: 'open', limit: 100 });
  const fitting = data.find((session) => session.url && sameOrder(session.metadata, metadata));
  for (const other of data) if (other !== fitting) await closeCheckout(stripe, other.id);
  if (fitting) return fitting;
  return stripe.checkout.sessions.create(
    metadata.purpose === 'trial_plan' ? setup(wanted, metadata) : await purchase(stripe, wanted, metadata),
  );
}

/** Closes a checkout that is open; one that was completed or closed a moment ago is left as it is. */
export async function closeCheckout(stripe: Stripe, id: string): Promise<void> {
  await stripe.checkout.sessions.expire(id).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}

type Metadata = ReturnType<typeof metadataOf>;

/** What a checkout is for; `tierBefore` lets its return tell whether the plan has changed. */
function metadataOf({ user, tier, now }: Wanted) {
  const trial = user.trialEndsAt !== null && user.trialEndsAt > now;
  const purpose = trial ? 'trial_plan' : 'purchase';
  return { userId: user.id, tier, tierBefore: entitledTier(user, now), purpose };
}

function sameOrder(theirs: Stripe.Metadata | null, ours: Metadata): boolean {
  return Object.entries(ours).every(([key, value]) => theirs?.[key] === value);
}

async function purchase(stripe: Stripe, { customer, tier, siteUrl }: Wanted, metadata: Metadata) {
  return {
    mode: 'subscription',
    ui_mode: 'hosted_page',
    customer,
    client_reference_id: metadata.userId,
    line_items: [{ price: await priceOf(stripe, tier), quantity: 1 }],
    subscription_data: { billing_mode: { type: 'flexible' }, metadata: { userId: metadata.userId, tier } },
    metadata,
    success_url: `${siteUrl}/payment-success?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: `${siteUrl}/payment-canceled`,
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function setup({ customer, siteUrl }: Wanted, metadata: Metadata) {
  return {
    mode: 'setup',
    ui_mode: 'hosted_page',
    customer,
    currency: 'usd',
    client_reference_id: metadata.userId,
    setup_intent_data: { metadata },
    metadata,
    success_url: `${siteUrl}/payment-details-saved?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: `${siteUrl}/payment-canceled`,
  } satisfies Stripe.Checkout.SessionCreateParams;
}
