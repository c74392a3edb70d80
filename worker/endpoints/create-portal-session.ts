import { leaseCustomer } from '../billing/lease.ts';
import { openPortal } from '../billing/portal.ts';
import { unlessMissing, withStripe } from '../billing/stripe.ts';
import { giveBack } from '../billing/visit.ts';
import type { Handler } from '../http/call.ts';
import { Problem } from '../problem.ts';
import type { Settings } from '../settings.ts';

export const createPortalSession: Handler<'createPortalSession'> = async (call) => {
  const { db, caller, settings } = call;
  const leased = await leaseCustomer(db, caller);
  const { customer } = leased;
  const visit = await giveBack(call, leased, async () => {
    const { stripeId, hadSubscription } = customer;
    const url = stripeId && hadSubscription ? await portalOf(stripeId, settings) : null;
    if (!url) throw new Problem('conflict', { message: 'No billing account yet. Choose a plan first.' });
    return { url };
  });
  return { success: true, portalUrl: visit.url };
};

/** The address of the portal, or null for a customer that was deleted in Stripe's dashboard. */
function portalOf(customer: string, settings: Settings): Promise<string | null> {
  return withStripe(settings, (stripe) => unlessMissing(openPortal(stripe, customer, settings.SITE_URL), 'customer'));
}
