import { acquireCustomer, afterFailure, release } from '../../billing/lease.ts';
import { closeCustomers } from '../../billing/customer.ts';
import { deleteLeasedUser } from '../../billing/delete-leased-user.ts';
import { withStripe } from '../../billing/stripe-client.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import { conversationOf } from '../../chat/open-conversation.ts';
import type { Handler } from '../../http/handler.ts';
import { endStreams, expectEnd } from '../../usage/publish.ts';

/** Fails closed: the rows are deleted only after Stripe has confirmed that nothing can charge again. */
export const deleteMe: Handler<'deleteMe'> = async (context) =>
  acquireCustomer(context, async (leased) => {
    const { db, env, settings, now, waitUntil } = context;
    const { customer, user } = leased;
    try {
      const { stripeId, stripeAsked } = customer;
      if (stripeId || stripeAsked) await withStripe(settings, (stripe) => closeCustomers(stripe, leased));
      expectEnd({ env, waitUntil }, user.id);
      await deleteLeasedUser(db, settings, leased, now);
    } catch (error) {
      await release(db, leased, afterFailure(error)).catch(() => undefined);
      throw error;
    }
    if (user.chatEpoch > 0 || user.chatKey) waitUntil(conversationOf(env, user.id).erase());
    endStreams({ env, waitUntil }, user.id, null);
    waitUntil(deliverSoon(db, settings, user.phone));
    return { success: true };
  });
