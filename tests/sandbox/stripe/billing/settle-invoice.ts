import { type Invoice, subscriptionOf } from '../objects/invoices.ts';
import type { World } from '../world.ts';

/** The money of an invoice is there: it is paid, and its subscription stands again. */
export function settleInvoice(world: World, id: string): Invoice {
  const now = world.now();
  const invoice = world.invoices.change(id, (invoice) => {
    Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due, amount_remaining: 0 });
    Object.assign(invoice, { attempted: true, auto_advance: false, next_payment_attempt: null });
    invoice.status_transitions.paid_at = now;
  });
  if (invoice._.payment) {
    world.invoicePayments.change(invoice._.payment, (payment) => {
      Object.assign(payment, { status: 'paid', amount_paid: payment.amount_requested });
      payment.status_transitions.paid_at = now;
    });
  }
  world.emit('invoice.paid', invoice);
  world.emit('invoice.payment_succeeded', invoice);
  reviveSubscription(world, invoice);
  return invoice;
}

function reviveSubscription(world: World, invoice: Invoice): void {
  const { id, latest_invoice: latest, status } = world.subscriptions.get(subscriptionOf(invoice));
  if (latest !== invoice.id || !['incomplete', 'past_due', 'unpaid'].includes(status)) return;
  world.customers.change(invoice.customer, (customer) => void (customer.delinquent = false));
  world.subscriptions.change(id, (subscription) => void (subscription.status = 'active'));
}
