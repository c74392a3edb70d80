import { sql } from 'drizzle-orm';
import { openCheckout } from '../billing/checkout.ts';
import { ensureCustomer } from '../billing/ensure-customer.ts';
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
  const leased = await leaseCustomer(db, caller);
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
    const stripeId = await ensureCustomer(stripe, leased);
    const session = await openCheckout(stripe, { customer: stripeId, user, tier, siteUrl, now });
    const setupSession = session.mode === 'setup' ? sql`, setup_session = ${session.id}` : sql``;
    return { url: session.url!, changes: sql`, stripe_id = ${stripeId} ${setupSession}` };
  });
}
