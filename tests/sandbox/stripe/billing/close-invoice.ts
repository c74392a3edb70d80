import { subscriptionOf } from '../objects/invoices.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** Voids an open invoice or marks it uncollectible. If a first invoice is voided, its subscription expires. */
export function closeInvoice(world: World, id: string, status: 'void' | 'uncollectible'): Invoice {
  const event = status === 'void' ? 'invoice.voided' : 'invoice.marked_uncollectible';
  const invoice = world.invoices.change(
    id,
    (invoice) => {
      const { status_transitions: transitions } = invoice;
      Object.assign(invoice, { status, auto_advance: false, next_payment_attempt: null });
      if (status === 'uncollectible') invoice.status_details = { uncollectible: { reason: 'user_forgiven' } };
      transitions[status === 'void' ? 'voided_at' : 'marked_uncollectible_at'] = world.now();
    },
    event,
  );
  if (status === 'void') {
    cancelPayment(world, invoice);
    expireSubscription(world, invoice);
  }
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
