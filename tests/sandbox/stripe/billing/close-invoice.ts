import { subscriptionOf } from '../objects/invoices.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** Voids an open invoice. If a first invoice is voided, its subscription expires. */
export function closeInvoice(world: World, id: string): Invoice {
  const invoice = world.invoices.change(
    id,
    (invoice) => {
      Object.assign(invoice, { status: 'void', auto_advance: false, next_payment_attempt: null });
      invoice.status_transitions.voided_at = world.now();
    },
    'invoice.voided',
  );
  cancelPayment(world, invoice);
  expireSubscription(world, invoice);
  return invoice;
}

function cancelPayment(world: World, { _: { payment, paymentIntent } }: Invoice): void {
  if (!payment || !paymentIntent) return;
  world.invoicePayments.change(payment, (payment) => {
    payment.status = 'canceled';
    payment.status_transitions.canceled_at = world.now();
  });
  world.paymentIntents.change(
    paymentIntent,
    (intent) => {
      Object.assign(intent, { status: 'canceled', canceled_at: world.now(), next_action: null });
      intent.cancellation_reason = 'void_invoice';
    },
    'payment_intent.canceled',
  );
}

function expireSubscription(world: World, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  if (!id) return;
  const { status, latest_invoice: latest } = world.subscriptions.get(id);
  if (status !== 'incomplete' || latest !== invoice.id) return;
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { status: 'incomplete_expired', ended_at: world.now() });
  });
}
