import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { entitledTier } from '../usage/allowance.ts';
import type { User } from '#db/schema';
import { presenceOfCustomer } from './customer-presence.ts';
import { currentPriceOf } from './prices.ts';
import { unlessRefused } from './stripe-client.ts';

type Order = { customer: string; user: User; tier: PaidPlanId; settings: Settings; now: number };

/** Methods that confirm at once; wallets come with cards. A bank debit would grant the plan days before its payment. */
const allowed_payment_method_types = [
  'card',
  'link',
] satisfies Stripe.Checkout.SessionCreateParams['allowed_payment_method_types'];

/**
 * Returns the customer's only open checkout: an open one for the same order, else a new one; all others are closed.
 * During a trial it saves a card for the next plan. The caller holds the customer's lease.
 */
export async function openCheckout(stripe: Stripe, order: Order): Promise<Stripe.Checkout.Session> {
  const metadata = metadataOf(order);
  const price = await currentPriceOf(stripe, order.tier);
  if (!price) throw new RequestError('conflict', { message: 'This plan is not on sale. Please choose another one.' });
  const { data } = await stripe.checkout.sessions.list({ customer: order.customer, status: 'open', limit: 100 });
  const fitting = data.find((session) => session.url && sameOrder(session.metadata, metadata));
  for (const other of data) if (other !== fitting) await closeCheckout(stripe, other.id);
  // A checkout stays open when its customer is deleted in Stripe's dashboard, but creating one then fails.
  if (fitting && (await presenceOfCustomer(stripe, order.customer)) === 'present') return fitting;
  return stripe.checkout.sessions.create(
    metadata.purpose === 'trial_plan' ? setup(order, metadata) : purchase(order, metadata, price),
  );
}

/** Closes an open checkout; Stripe refuses this for one that was completed or closed meanwhile. */
export async function closeCheckout(stripe: Stripe, id: string): Promise<void> {
  await unlessRefused(stripe.checkout.sessions.expire(id));
}

type Metadata = ReturnType<typeof metadataOf>;

/** The purpose of a checkout; `tierBefore` shows on return whether the plan has changed. */
function metadataOf({ user, tier, now }: Order) {
  const trial = user.trialEndsAt !== null && user.trialEndsAt > now;
  const purpose = trial ? 'trial_plan' : 'purchase';
  return { userId: user.id, tier, tierBefore: entitledTier(user, now), purpose };
}

function sameOrder(theirs: Stripe.Metadata | null, ours: Metadata): boolean {
  return Object.entries(ours).every(([key, value]) => theirs?.[key] === value);
}

function purchase({ customer, tier, settings }: Order, metadata: Metadata, price: string) {
  const { SITE_URL, AUTOMATIC_TAX } = settings;
  return {
    mode: 'subscription',
    ui_mode: 'hosted_page',
    customer,
    client_reference_id: metadata.userId,
    allowed_payment_method_types,
    line_items: [{ price, quantity: 1 }],
    subscription_data: { billing_mode: { type: 'flexible' }, metadata: { userId: metadata.userId, tier } },
    // Tax needs an address: Checkout asks for it and saves it to the customer.
    ...(AUTOMATIC_TAX && { automatic_tax: { enabled: true }, customer_update: { address: 'auto' } }),
    metadata,
    success_url: `${SITE_URL}/payment-success?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: `${SITE_URL}/payment-canceled`,
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function setup({ customer, settings }: Order, metadata: Metadata) {
  const { SITE_URL, AUTOMATIC_TAX } = settings;
  return {
    mode: 'setup',
    ui_mode: 'hosted_page',
    customer,
    currency: 'usd',
    client_reference_id: metadata.userId,
    allowed_payment_method_types,
    setup_intent_data: { metadata },
    ...(AUTOMATIC_TAX && { billing_address_collection: 'required' }),
    metadata,
    success_url: `${SITE_URL}/payment-details-saved?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: `${SITE_URL}/payment-canceled`,
  } satisfies Stripe.Checkout.SessionCreateParams;
}
