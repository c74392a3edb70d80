import { subscriptionOf } from '../objects/invoices.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** Marks an invoice as paid. When it is its subscription's latest finalized one, the subscription is active again. */
export function settleInvoice(world: World, id: string, { isOutOfBand = false } = {}): Invoice {
  const now = world.now();
  const invoice = world.invoices.change(id, (invoice) => {
    Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due, amount_remaining: 0 });
    Object.assign(invoice, { auto_advance: false, next_payment_attempt: null, automatically_finalizes_at: null });
    invoice.attempted ||= !isOutOfBand;
    invoice.status_transitions.paid_at = now;
  });
  if (invoice._.payment && !isOutOfBand) {
    const payment = world.invoicePayments.change(invoice._.payment, (payment) => {
      Object.assign(payment, { status: 'paid', amount_paid: payment.amount_requested });
      payment.status_transitions.paid_at = now;
    });
    world.emit('invoice_payment.paid', payment);
  }
  world.emit('invoice.paid', invoice);
  world.emit('invoice.payment_succeeded', invoice);
  reactivateSubscription(world, invoice);
  return invoice;
}

function reactivateSubscription(world: World, invoice: Invoice): void {
  const subscription = subscriptionOf(invoice);
  if (!subscription) return;
  const { id, status, _: internal } = world.subscriptions.get(subscription);
  if (internal.lastFinalized !== invoice.id || !['incomplete', 'past_due', 'unpaid'].includes(status)) return;
  world.customers.change(invoice.customer, (customer) => void (customer.delinquent = false));
  world.subscriptions.change(id, (subscription) => void (subscription.status = 'active'));
}
