import { leaseCustomer, release, type Leased } from '../billing/lease.ts';
import { unlessMissing, withStripe } from '../billing/stripe.ts';
import { sync } from '../billing/sync.ts';
import type { Call, Handler } from '../http/call.ts';
import { Problem } from '../problem.ts';
import { entitledTier } from '../usage/entitlement.ts';

export const verifyCheckoutSession: Handler<'verifyCheckoutSession'> = async (call) => {
  const leased = await leaseCustomer(call.db, call.caller);
  const session = await ownSession(call, leased).catch(async (error: unknown) => {
    await call.db.run(release(leased));
    throw error;
  });
  const user = await sync(call, leased);
  const newTier = entitledTier(user, Date.now());
  const tierBefore = session.metadata?.tierBefore ?? entitledTier(leased.user, call.now);
  const success = session.status === 'complete';
  return { success, tierUpdated: success && newTier !== tierBefore, newTier };
};

/** The session, if it is one of this very user; anything else does not exist. */
async function ownSession({ input, settings }: Call<'verifyCheckoutSession'>, { customer }: Leased) {
  const { sessionId } = input;
  if (!customer.stripeId || !/^cs_(test|live)_\w+$/.test(sessionId)) throw new Problem('notFound');
  const session = await withStripe(settings, (stripe) => unlessMissing(stripe.checkout.sessions.retrieve(sessionId)));
  if (session?.customer !== customer.stripeId) throw new Problem('notFound');
  return session;
}
