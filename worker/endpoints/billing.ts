import { sql } from 'drizzle-orm';
import { customers } from '#db/schema';
import { acquireCustomer } from '../billing/acquire-lease.ts';
import { billingPage } from '../billing/billing-page.ts';
import type { Changes, LeasedCustomer } from '../billing/leased-customer.ts';
import { withLease } from '../billing/with-lease.ts';
import type { Handler, ContextOf } from '../http/request-context.ts';
import { refuseUnknownCustomer, presenceOfCustomer } from '../billing/customer-presence.ts';
import { openPortal } from '../billing/portal.ts';
import { unlessMissing, withStripe } from '../billing/stripe-client.ts';
import { isLive, subscriptionsOf } from '../billing/subscriptions.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { afterFailure, release } from '../billing/release-lease.ts';
import { sync } from '../billing/sync.ts';
import { entitledTier } from '../usage/allowance.ts';

export const createSubscriptionUpdateSession: Handler<'createSubscriptionUpdateSession'> = async (context) => {
  const { input, now } = context;
  const openPage = async (leased: LeasedCustomer) => {
    const destination = await withLease(context, leased, () => billingPage(context, leased, input.tier));
    return { success: true as const, portalUrl: destination.url };
  };
  return acquireCustomer(context, openPage, input.tier && askedAt(now));
};

/** Saved before the customer is created at Stripe, so that the cron job can find it if its id is lost. */
function askedAt(now: number): Changes {
  return { stripeAsked: true, askedAt: sql`coalesce(${customers.askedAt}, ${now})` };
}

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

export const verifyCheckoutSession: Handler<'verifyCheckoutSession'> = async (context) =>
  acquireCustomer(context, async (leased) => {
    const checkout = await ownSession(context, leased).catch(async (error: unknown) => {
      await release(context.db, leased, afterFailure(error));
      throw error;
    });
    const user = await sync(context, leased);
    const newTier = entitledTier(user, Date.now());
    const tierBefore = checkout.metadata?.tierBefore ?? entitledTier(leased.user, context.now);
    const success = checkout.status === 'complete';
    return { success, tierUpdated: success && newTier !== tierBefore, newTier };
  });

/** The user's own checkout session; throws 404 for any other. */
async function ownSession({ input, settings }: ContextOf<'verifyCheckoutSession'>, { customer }: LeasedCustomer) {
  const { sessionId } = input;
  if (!customer.stripeId || !/^cs_(test|live)_\w+$/.test(sessionId)) throw new RequestError('notFound');
  const session = await withStripe(settings, (stripe) => unlessMissing(stripe.checkout.sessions.retrieve(sessionId)));
  if (session?.customer !== customer.stripeId) throw new RequestError('notFound');
  return session;
}
