import { type Invoice, subscriptionOf } from '../objects/invoices.ts';
import type { World } from '../world.ts';

/** Gives an open invoice up. A first invoice that is voided takes its subscription along. */
export function closeInvoice(world: World, id: string, status: 'void' | 'uncollectible'): Invoice {
  const event = status === 'void' ? 'invoice.voided' : 'invoice.marked_uncollectible';
  const invoice = world.invoices.change(
    id,
    (invoice) => {
      const { status_transitions: transitions } = invoice;
      Object.assign(invoice, { status, auto_advance: false, next_payment_attempt: null });
      if (status === 'void') Object.assign(invoice, { amount_remaining: 0 });
      if (status === 'uncollectible') invoice.status_details = { uncollectible: { reason: 'user_forgiven' } };
      transitions[status === 'void' ? 'voided_at' : 'marked_uncollectible_at'] = world.now();
    },
    event,
  );
  const { status: held, latest_invoice: latest } = world.subscriptions.get(subscriptionOf(invoice));
  if (status === 'void' && held === 'incomplete' && latest === id) {
    world.subscriptions.change(subscriptionOf(invoice), (subscription) => {
      Object.assign(subscription, { status: 'incomplete_expired', ended_at: world.now() });
    });
  }
  return invoice;
}
