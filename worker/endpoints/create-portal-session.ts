import { leaseCustomer } from '../billing/lease.ts';
import { openPortal } from '../billing/portal.ts';
import { withStripe } from '../billing/stripe.ts';
import { giveBack } from '../billing/visit.ts';
import type { Handler } from '../http/call.ts';
import { Problem } from '../problem.ts';

export const createPortalSession: Handler<'createPortalSession'> = async (call) => {
  const { db, caller, settings } = call;
  const leased = await leaseCustomer(db, caller);
  const { customer } = leased;
  const visit = await giveBack(call, leased, async () => {
    if (!customer.stripeId || !customer.hadSubscription) {
      throw new Problem('conflict', { message: 'No billing account yet. Choose a plan first.' });
    }
    const { stripeId } = customer;
    return { url: await withStripe(settings, (stripe) => openPortal(stripe, stripeId, settings.SITE_URL)) };
  });
  return { success: true, portalUrl: visit.url };
};
