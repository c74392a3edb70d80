import { sql } from 'drizzle-orm';
import { customers } from '#db/schema';
import { acquireCustomer, type Changes, type LeasedCustomer, withLease } from '../../billing/lease.ts';
import { billingPage } from '../../billing/checkout.ts';
import type { Handler } from '../../http/handler.ts';

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
