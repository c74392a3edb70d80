import { sql } from 'drizzle-orm';
import { openCheckout } from '../billing/checkout.ts';
import { withCustomer } from '../billing/ensure-customer.ts';
import { isLive } from '../billing/is-live.ts';
import { leaseCustomer, type Leased } from '../billing/lease.ts';
import { fittingFlow, openPortal } from '../billing/portal.ts';
import { withStripe } from '../billing/stripe.ts';
import { subscriptionsOf } from '../billing/sync.ts';
import { giveBack, type Visit } from '../billing/visit.ts';
import type { PaidPlanId } from '../contract/plans.ts';
import type { Call, Handler } from '../http/call.ts';

export const createSubscriptionUpdateSession: Handler<'createSubscriptionUpdateSession'> = async (call) => {
  const { db, caller, input } = call;
  // Noted before Stripe is asked, so that a customer whose id gets lost is found again.
  const leased = await leaseCustomer(db, caller, input.tier && sql`, stripe_asked = 1`);
  const visit = await giveBack(call, leased, () => open(call, leased, input.tier));
  return { success: true, portalUrl: visit.url };
};

async function open({ settings, now }: Call, leased: Leased, tier: PaidPlanId | undefined): Promise<Visit> {
  const siteUrl = settings.SITE_URL;
  const { customer, user } = leased;
  if (!customer.stripeId && !tier) return { url: `${siteUrl}/plans` };
  return withStripe(settings, async (stripe) => {
    const live = customer.stripeId ? (await subscriptionsOf(stripe, customer.stripeId)).find(isLive) : undefined;
    if (live) return { url: await openPortal(stripe, customer.stripeId!, siteUrl, fittingFlow(live, siteUrl)) };
    if (!tier) return { url: `${siteUrl}/plans` };
    const { id, result: session } = await withCustomer(stripe, leased, (id) =>
      openCheckout(stripe, { customer: id, user, tier, siteUrl, now }),
    );
    const setupSession = session.mode === 'setup' ? sql`, setup_session = ${session.id}` : sql``;
    return { url: session.url!, changes: sql`, stripe_id = ${id} ${setupSession}` };
  });
}
