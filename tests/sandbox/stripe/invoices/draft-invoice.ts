import { leastCharge } from '../currencies.ts';
import { listOf, newId } from '../table.ts';
import type { Invoice, Line, Period, Subscription } from '../objects.ts';
import { businessName, type World } from '../world.ts';
import { subscriptionOf } from './lines.ts';
import { newPaymentIntent } from '../payments/charges.ts';
import { settleInvoice } from './collect-invoice.ts';

/** The time, in seconds, after which Stripe finalizes and charges a draft invoice. */
const draftTime = 3600;

type Draft = {
  customer: string;
  currency: string;
  subscription?: Subscription;
  reason: NonNullable<Invoice['billing_reason']>;
  lines?: Line[];
  period?: Period;
  /** Stripe finalizes and charges it after the draft time. */
  isAutomatic?: boolean;
};

/** Creates a draft invoice and emits `invoice.created`; charges nothing. */
export function draftInvoice(world: World, draft: Draft): Invoice {
  const id = newId('in_1');
  const now = world.now();
  const data = (draft.lines ?? []).map((line) => ({
    ...line,
    invoice: id,
  }));
  return world.invoices.insert({
    ...addressee(world, draft.customer),
    ...amounts(data),
    ...finalization(now, draft.isAutomatic ?? false),
    id,
    object: 'invoice',
    billing_reason: draft.reason,
    created: now,
    currency: draft.currency,
    customer: draft.customer,
    lines: listOf(data, `/v1/invoices/${id}/lines`),
    parent: draft.subscription ? parentOf(draft.subscription) : null,
    period_start: draft.period?.start ?? now,
    period_end: draft.period?.end ?? now,
    starting_balance: world.customers.get(draft.customer).balance,
    webhooks_delivered_at: now,
    _: {
      payment: null,
      paymentIntent: null,
      firstFailure: null,
      retries: 0,
      unauthenticated: null,
    },
  });
}

/** When Stripe finalizes and first charges a draft that was created at `created`. */
export function finalization(created: number, isAutomatic: boolean) {
  const at = isAutomatic ? created + draftTime : null;
  return {
    auto_advance: isAutomatic,
    automatically_finalizes_at: at,
    next_payment_attempt: at,
  };
}

function amounts(lines: Line[]) {
  const discounts = lines.flatMap((line) => line.discount_amounts ?? []);
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  const total = discounts.reduce((rest, { amount }) => rest - amount, subtotal);
  const due = Math.max(0, total);
  return {
    amount_due: due,
    amount_remaining: due,
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_excluding_tax: total,
    total_discount_amounts: discounts,
  };
}

function addressee(world: World, customer: string) {
  const { email, name, phone, address } = world.customers.get(customer);
  return {
    account_name: businessName,
    customer_address: address,
    customer_email: email,
    customer_name: name,
    customer_phone: phone,
  };
}

function parentOf({ id, metadata }: Subscription) {
  const details = { metadata, subscription: id };
  return {
    type: 'subscription_details',
    quote_details: null,
    subscription_details: details,
  } as const;
}

/** Numbers an invoice and applies the customer's balance to it. An invoice of nothing is paid. */
export function finalizeInvoice(world: World, id: string): Invoice {
  const draft = world.invoices.get(id);
  const customer = world.customers.get(draft.customer);
  const owed = draft.total + customer.balance;
  const due = owed < leastCharge(draft.currency) ? 0 : owed;
  const endingBalance = owed - due;
  const numbered = {
    balance: endingBalance,
    next_invoice_sequence: customer.next_invoice_sequence + 1,
  };
  world.customers.change(customer.id, numbered, null);
  world.invoices.change(
    id,
    (invoice) => {
      Object.assign(invoice, {
        amount_due: due,
        amount_remaining: due,
        ending_balance: endingBalance,
        status: 'open',
      });
      Object.assign(invoice, {
        automatically_finalizes_at: null,
        next_payment_attempt: null,
      });
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
  if (subscription)
    world.subscriptions.change(subscription, ({ _ }) => void (_.lastFinalized = id), null);
  return due === 0 ? settleInvoice(world, id) : world.invoices.get(id);
}

function openPayment(
  world: World,
  invoice: Invoice,
): {
  payment: string;
  paymentIntent: string;
} {
  const { amount_due: amount, currency, customer } = invoice;
  const description =
    invoice.billing_reason === 'subscription_create'
      ? 'Subscription creation'
      : 'Subscription update';
  const intent = newPaymentIntent(world, {
    amount,
    currency,
    customer,
    description,
    invoice: invoice.id,
    setup_future_usage: subscriptionOf(invoice) ? 'off_session' : null,
  });
  const payment = world.invoicePayments.insert({
    id: newId('inpay_1'),
    object: 'invoice_payment',
    amount_requested: amount,
    created: world.now(),
    currency,
    invoice: invoice.id,
    payment: { type: 'payment_intent', payment_intent: intent.id },
  });
  return { payment: payment.id, paymentIntent: intent.id };
}
