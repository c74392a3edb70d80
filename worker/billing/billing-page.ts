import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import { openCheckout } from './checkout.ts';
import { withCustomer } from './customer.ts';
import type { LeasedCustomer } from './leased-customer.ts';
import { authenticationPage } from './open-invoice.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import { fittingFlow, openPortal } from './portal.ts';
import { withStripe } from './stripe-client.ts';
import { isLive, subscriptionsOf } from './subscriptions.ts';
import type { Destination } from './with-lease.ts';

type Context = { db: Database; settings: Settings; now: number };

/**
 * The page for a user who asks for a plan: Stripe's checkout, or its portal for who has a subscription. Without a
 * subscription and a tier it is the plans page.
 */
export async function billingPage(
  { db, settings, now }: Context,
  leased: LeasedCustomer,
  tier: PaidPlanId | undefined,
): Promise<Destination> {
  const { customer, user } = leased;
  const plansPage = { url: `${settings.SITE_URL}/plans` };
  if (!customer.stripeId && !tier) return plansPage;
  return withStripe(settings, async (stripe) => {
    // A card saved during the trial counts before its event has arrived: a new checkout would take its place.
    await startPlanAfterTrial(stripe, leased, settings);
    const live = customer.stripeId ? (await subscriptionsOf(stripe, customer.stripeId))?.find(isLive) : undefined;
    if (live) return { url: await pageFor(stripe, live, customer.stripeId!, settings.SITE_URL) };
    if (!tier) return plansPage;
    const { id, result: session } = await withCustomer(db, stripe, leased, (id) =>
      openCheckout(stripe, { customer: id, user, tier, settings, now }),
    );
    return {
      url: session.url!,
      changes: { stripeId: id, ...(session.mode === 'setup' && { setupSession: session.id }) },
    };
  });
}

/** The page to change a live subscription, or to pay its due invoice. */
async function pageFor(stripe: Stripe, live: Stripe.Subscription, customer: string, siteUrl: string): Promise<string> {
  const page = await authenticationPage(stripe, live);
  return page ?? openPortal(stripe, customer, siteUrl, { live, flow: fittingFlow(live, siteUrl) });
}
