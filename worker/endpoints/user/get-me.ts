import { sql } from 'drizzle-orm';
import { syncUser } from '../../billing/reconcile.ts';
import type { Handler } from '../../http/handler.ts';
import { profileOf } from '../../usage/profile.ts';

const freshMs = 10_000;

/** A user who returns from Stripe's pages gets the new plan even if Stripe's event is lost. */
export const getMe: Handler<'getMe'> = async (context) => {
  const { session, now, waitUntil } = context;
  return session.run([], (user) => {
    const stale = sql`stripe_id is not null and synced_at < ${now - freshMs}`;
    if (user.billingWatchUntil && user.billingWatchUntil > now) waitUntil(syncUser(context, user.id, stale));
    return { success: true, profile: profileOf(user, now) };
  });
};
