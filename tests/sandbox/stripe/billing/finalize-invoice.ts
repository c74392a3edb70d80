import { newId } from '../ids.ts';
import { subscriptionOf } from '../objects/invoices.ts';
import { newPaymentIntent } from '../objects/payment-intents.ts';
import { settleInvoice } from './settle-invoice.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** Stripe charges no amount below 50 cents: it is added to the customer's balance for the next invoice. */
const leastCharge = 50;

/** Numbers an invoice and applies the customer's balance to it. An invoice of nothing is paid. */
export function finalizeInvoice(world: World, id: string): Invoice {
  const draft = world.invoices.get(id);
  const customer = world.customers.get(draft.customer);
  const owed = draft.total + customer.balance;
  const due = owed < leastCharge ? 0 : owed;
  const endingBalance = owed - due;
  const numbered = { balance: endingBalance, next_invoice_sequence: customer.next_invoice_sequence + 1 };
  world.customers.change(customer.id, (customer) => void Object.assign(customer, numbered), null);
  world.invoices.change(
    id,
    (invoice) => {
      Object.assign(invoice, { amount_due: due, amount_remaining: due, ending_balance: endingBalance, status: 'open' });
      Object.assign(invoice, { automatically_finalizes_at: null, next_payment_attempt: null });
      invoice.starting_balance = customer.balance;
      invoice.number = `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`;
      invoice.effective_at = invoice.status_transitions.finalized_at = world.now();
      invoice.hosted_invoice_url = `${world.settings.sandboxUrl}/invoice/${id}`;
      invoice.invoice_pdf = `${world.settings.sandboxUrl}/invoice/${id}`;
      if (due > 0) Object.assign(invoice._, openPayment(world, invoice));
    },
    'invoice.finalized',
  );
  const subscription = subscriptionOf(draft);
  if (subscription) world.subscriptions.change(subscription, ({ _ }) => void (_.lastFinalized = id), null);
  return due === 0 ? settleInvoice(world, id) : world.invoices.get(id);
}

function openPayment(world: World, invoice: Invoice): { payment: string; paymentIntent: string } {
  const { amount_due: amount, currency, customer } = invoice;
  const description =
    invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update';
  const setupFutureUsage = subscriptionOf(invoice) ? 'off_session' : null;
  const intent = newPaymentIntent(world, {
    amount,
    currency,
    customer,
    description,
    invoice: invoice.id,
    setupFutureUsage,
  });
  const payment = world.invoicePayments.insert({
    id: newId('inpay_1'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: amount,
    created: world.now(),
    currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { type: 'payment_intent', payment_intent: intent.id },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  });
  return { payment: payment.id, paymentIntent: intent.id };
}
