import { sql } from 'drizzle-orm';
import { customers } from '#db/schema';
import { closeCustomers } from '../../billing/close-customer.ts';
import { acquireCustomer, afterFailure, release, type LeasedCustomer } from '../../billing/lease.ts';
import { withStripe } from '../../billing/stripe-client.ts';
import { conversationOf } from '../../chat/open-conversation.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import type { Handler } from '../../http/handler.ts';
import type { Database } from '../../platform/database.ts';
import { RequestError } from '../../platform/request-error.ts';
import type { Settings } from '../../settings.ts';
import { endStreams, expectEnd } from '../../usage/publish.ts';
import { deleteUserRows } from '../../users/delete-user.ts';

/** Fails closed: the rows are deleted only after Stripe has confirmed that nothing can charge again. */
export const deleteMe: Handler<'deleteMe'> = async (context) =>
  acquireCustomer(context, async (leased) => {
    const { db, env, settings, now, waitUntil } = context;
    const { customer, user } = leased;
    try {
      const { stripeId, stripeAsked } = customer;
      if (stripeId || stripeAsked) await withStripe(settings, (stripe) => closeCustomers(stripe, leased));
      expectEnd({ env, waitUntil }, user.id);
      await eraseRows(db, settings, leased, now);
    } catch (error) {
      await release(db, leased, afterFailure(error)).catch(() => undefined);
      throw error;
    }
    if (user.chatEpoch > 0 || user.chatKey) waitUntil(conversationOf(env, user.id).erase());
    endStreams({ env, waitUntil }, user.id, null);
    waitUntil(deliverSoon(db, settings, user.phone));
    return { success: true };
  });

/** Deletes nothing if the lease was lost, since its next holder may have opened a checkout. */
async function eraseRows(db: Database, settings: Settings, { token }: LeasedCustomer, now: number): Promise<void> {
  const userId = sql`(select ${customers.userId} from ${customers} where ${customers.leaseToken} = ${token})`;
  const [first, ...rest] = deleteUserRows(userId, settings, now).map((statement) => db.run(statement));
  const results = await db.batch([first!, ...rest]);
  if (results.at(-1)?.rowsAffected === 0) throw new RequestError('unavailable', { retryAfter: 1 });
}
