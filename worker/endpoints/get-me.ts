import { sql } from 'drizzle-orm';
import { syncUser } from '../billing/reconcile.ts';
import type { Handler } from '../http/call.ts';
import { profileOf } from '../usage/profile.ts';

const freshMs = 10_000;

/** Somebody back from Stripe's pages sees what happened there even if Stripe's word got lost on the way. */
export const getMe: Handler<'getMe'> = async (call) => {
  const { caller, now, later } = call;
  const [user] = await caller.load();
  const stale = sql`stripe_id is not null and synced_at < ${now - freshMs}`;
  if (user.billingWatchUntil && user.billingWatchUntil > now) later(syncUser(call, user.id, stale));
  return { success: true, profile: profileOf(user, now) };
};
