import type { Stripe } from 'stripe';
import { closeCheckout } from './checkout.ts';
import { ensureCustomer, findCustomers } from './customer.ts';
import { refuseUnknownCustomer, presenceOfCustomer } from './customer-presence.ts';
import type { LeasedCustomer } from './leased-customer.ts';
import { unlessMissing, unlessRefused } from './stripe-client.ts';
import { cancelNow, isLive } from './subscriptions.ts';

/**
 * Ends everything at Stripe that could charge a user, then the customers themselves. Safe to repeat until it succeeds.
 */
export async function closeCustomers(stripe: Stripe, leased: LeasedCustomer): Promise<void> {
  const { stripeId, stripeAsked, attempt } = leased.customer;
  if (!stripeId && !stripeAsked) return;
  const own = await ensureCustomer(stripe, leased);
  // A response may have been lost, so another customer may exist.
  const others = attempt > 1 || !stripeId ? await findCustomers(stripe, leased.customer) : [];
  const presence = await presenceOfCustomer(stripe, own);
  if (presence === 'unknown') throw refuseUnknownCustomer(own);
  const all = new Set([...others, ...(presence === 'present' ? [own] : [])]);
  for (const customer of all) await closeCustomer(stripe, customer);
}

async function closeCustomer(stripe: Stripe, customer: string): Promise<void> {
  for await (const session of stripe.checkout.sessions.list({ customer, status: 'open' })) {
    await closeCheckout(stripe, session.id);
  }
  for await (const subscription of stripe.subscriptions.list({ customer, status: 'all' })) {
    if (isLive(subscription) || subscription.status === 'incomplete') await cancelNow(stripe, subscription);
  }
  for await (const schedule of stripe.subscriptionSchedules.list({ customer, scheduled: true })) {
    await unlessRefused(stripe.subscriptionSchedules.cancel(schedule.id));
  }
  for await (const invoice of stripe.invoices.list({ customer, status: 'open' })) {
    // Stripe refuses if it was paid or voided meanwhile; without a customer it cannot be charged.
    await unlessRefused(stripe.invoices.voidInvoice(invoice.id));
  }
  await unlessMissing(stripe.customers.del(customer));
}
