import { sql } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers } from '#db/schema';
import { openCheckout } from '../../billing/checkout.ts';
import { withCustomer } from '../../billing/customer.ts';
import { acquireCustomer, type Changes, type LeasedCustomer } from '../../billing/lease.ts';
import { authenticationPage } from '../../billing/open-invoice.ts';
import { startPlanAfterTrial } from '../../billing/plan-after-trial.ts';
import { fittingFlow, openPortal } from '../../billing/portal.ts';
import { withStripe } from '../../billing/stripe-client.ts';
import { isLive, subscriptionsOf } from '../../billing/subscriptions.ts';
import { withLease, type Destination } from '../../billing/with-lease.ts';
import type { PaidPlanId } from '../../contract/plans.ts';
import type { Handler } from '../../http/handler.ts';
import type { BaseContext } from '../../http/request-context.ts';

export const createSubscriptionUpdateSession: Handler<'createSubscriptionUpdateSession'> = async (context) => {
  const { tier } = context.input;
  const respond = async (leased: LeasedCustomer) => {
    const destination = await withLease(context, leased, () => destinationFor(context, leased, tier));
    return { success: true as const, portalUrl: destination.url };
  };
  return acquireCustomer(context, respond, tier && askedAt(context.now));
};

/** Saved before the customer is created at Stripe, so that the cron job can find it if its id is lost. */
function askedAt(now: number): Changes {
  return { stripeAsked: true, askedAt: sql`coalesce(${customers.askedAt}, ${now})` };
}

async function destinationFor(
  context: BaseContext,
  leased: LeasedCustomer,
  tier: PaidPlanId | undefined,
): Promise<Destination> {
  const { db, settings, now } = context;
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
