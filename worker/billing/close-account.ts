import type { Stripe } from 'stripe';
import { closeCheckout } from './checkout.ts';
import { isLive } from './is-live.ts';
import { isRefusal, unlessMissing } from './stripe.ts';

const quietly = { invoice_now: false, prorate: false } as const;

/** Ends everything that could charge a customer, then the customer itself; may be repeated until it succeeds. */
export async function closeAccount(stripe: Stripe, customer: string): Promise<void> {
  const found = await unlessMissing(stripe.customers.retrieve(customer));
  if (!found || found.deleted) return;
  for await (const session of stripe.checkout.sessions.list({ customer, status: 'open' })) {
    await closeCheckout(stripe, session.id);
  }
  for await (const schedule of stripe.subscriptionSchedules.list({ customer })) {
    if (schedule.status === 'active' || schedule.status === 'not_started') {
      await evenIfRefused(stripe.subscriptionSchedules.cancel(schedule.id, quietly));
    }
  }
  for await (const subscription of stripe.subscriptions.list({ customer, status: 'all' })) {
    const charges = isLive(subscription) || subscription.status === 'incomplete';
    if (charges) await unlessMissing(stripe.subscriptions.cancel(subscription.id, quietly));
  }
  for await (const invoice of stripe.invoices.list({ customer, status: 'open' })) {
    await stripe.invoices.voidInvoice(invoice.id);
  }
  await unlessMissing(stripe.customers.del(customer));
}

/** A schedule may have ended a moment ago; the subscription is ended after it in any case. */
async function evenIfRefused(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}
