import { sql } from 'drizzle-orm';
import { eraseUser } from '../auth/erase-user.ts';
import { closeAccount } from '../billing/close-account.ts';
import { ensureCustomer } from '../billing/ensure-customer.ts';
import { leaseCustomer, release } from '../billing/lease.ts';
import { withStripe } from '../billing/stripe.ts';
import type { Handler } from '../http/call.ts';
import { deliverSoon } from '../messaging/deliver-outbox.ts';
import { publish } from '../usage/publish.ts';

/** Fails closed: only when Stripe has confirmed that nothing can charge again do our own rows go. */
export const deleteMe: Handler<'deleteMe'> = async ({ caller, db, env, settings, now, later }) => {
  const leased = await leaseCustomer(db, caller);
  const { customer, user } = leased;
  try {
    if (customer.stripeId || customer.stripeAsked) {
      await withStripe(settings, async (stripe) => closeAccount(stripe, await ensureCustomer(stripe, leased)));
    }
    const [first, ...rest] = eraseUser(sql`${user.id}`, now).map((statement) => db.run(statement));
    await db.batch([first!, ...rest]);
  } catch (error) {
    await db.run(release(leased)).catch(() => undefined);
    throw error;
  }
  later(publish(env, user.id, { kind: 'end', sessionId: null }));
  later(deliverSoon(db, settings, user.phone));
  return { success: true };
};
