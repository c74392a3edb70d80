import { type Invoice, subscriptionOf } from '../objects/invoices.ts';
import type { PaymentMethod } from '../objects/payment-methods.ts';
import type { World } from '../world.ts';
import { defaultMethod } from './default-method.ts';
import { settleInvoice } from './settle-invoice.ts';
import { decline } from './test-cards.ts';

export type Decline = { code: string; message: string; decline_code?: string };

const nothingToCharge: Decline = {
  code: 'payment_method_required',
  message: 'This customer has no attached payment source or default payment method.',
};

/** Charges an open invoice, with the given card or the default one. Answers why not, or undefined when it is paid. */
export function collectInvoice(world: World, id: string, methodId?: string): Decline | undefined {
  const invoice = world.invoices.get(id);
  const method = methodId
    ? world.paymentMethods.get(methodId, 'payment_method')
    : defaultMethod(world, world.subscriptions.get(subscriptionOf(invoice)));
  const failure = !method ? nothingToCharge : method._.declines ? decline : undefined;
  recordAttempt(world, invoice, method, failure);
  if (!failure) return void settleInvoice(world, id);
  failInvoice(world, id);
  return failure;
}

function recordAttempt(
  world: World,
  invoice: Invoice,
  method: PaymentMethod | undefined,
  failure: Decline | undefined,
) {
  world.invoices.change(
    invoice.id,
    (invoice) => void Object.assign(invoice, { attempted: true, attempt_count: invoice.attempt_count + 1 }),
    null,
  );
  if (!invoice._.paymentIntent) return;
  world.paymentIntents.change(
    invoice._.paymentIntent,
    (intent) => {
      if (failure) intent.last_payment_error = { type: 'card_error', ...failure };
      else Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null });
      intent.payment_method = failure ? null : (method?.id ?? null);
    },
    failure ? 'payment_intent.payment_failed' : 'payment_intent.succeeded',
  );
}

function failInvoice(world: World, id: string): void {
  const invoice = world.invoices.change(id, () => undefined, 'invoice.payment_failed');
  const { id: subscription, status } = world.subscriptions.get(subscriptionOf(invoice));
  if (status !== 'active') return;
  world.customers.change(invoice.customer, (customer) => void (customer.delinquent = true));
  world.subscriptions.change(subscription, (subscription) => void (subscription.status = 'past_due'));
}
