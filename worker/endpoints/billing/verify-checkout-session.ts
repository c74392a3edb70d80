import { acquireCustomer, type LeasedCustomer, afterFailure, release } from '../../billing/lease.ts';
import { unlessMissing, withStripe } from '../../billing/stripe-client.ts';
import { sync } from '../../billing/sync.ts';
import type { Handler } from '../../http/handler.ts';
import type { ContextOf } from '../../http/request-context.ts';
import { RequestError } from '../../lib/request-error.ts';
import { entitledTier } from '../../usage/entitlement.ts';

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
