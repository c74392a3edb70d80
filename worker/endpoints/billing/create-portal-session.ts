import { acquireCustomer, type LeasedCustomer, withLease } from '../../billing/lease.ts';
import { refuseUnknownCustomer, presenceOfCustomer } from '../../billing/customer.ts';
import { openPortal } from '../../billing/portal.ts';
import { unlessMissing, withStripe } from '../../billing/stripe-client.ts';
import { isLive, subscriptionsOf } from '../../billing/subscriptions.ts';
import type { Handler } from '../../http/handler.ts';
import { RequestError } from '../../lib/request-error.ts';
import type { Settings } from '../../settings.ts';

export const createPortalSession: Handler<'createPortalSession'> = async (context) =>
  acquireCustomer(context, async (leased) => {
    const destination = await withLease(context, leased, async () => {
      const url = await portalOf(leased, context.settings);
      if (!url) throw new RequestError('conflict', { message: 'No billing account yet. Choose a plan first.' });
      return { url };
    });
    return { success: true, portalUrl: destination.url };
  });

/** The address of the portal; null for a user who never paid, or whose customer was deleted in Stripe's dashboard. */
async function portalOf({ customer }: LeasedCustomer, settings: Settings): Promise<string | null> {
  const { stripeId, hadSubscription } = customer;
  if (!stripeId || !hadSubscription) return null;
  return withStripe(settings, async (stripe) => {
    const live = (await subscriptionsOf(stripe, stripeId))?.find(isLive);
    const url = await unlessMissing(openPortal(stripe, stripeId, settings.SITE_URL, { live }), 'customer');
    if (url || (await presenceOfCustomer(stripe, stripeId)) !== 'unknown') return url;
    throw refuseUnknownCustomer(stripeId);
  });
}
