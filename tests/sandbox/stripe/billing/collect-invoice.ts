import { subscriptionOf } from '../objects/invoices.ts';
import type { Decline } from '../errors.ts';
import { attemptPayment, type Outcome } from './attempt-payment.ts';
import { defaultMethod } from './default-method.ts';
import { settleInvoice } from './settle-invoice.ts';
import type { Invoice } from '../types/invoices.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

const nothingToCharge: Decline = {
  code: 'payment_method_required',
  message: 'This customer has no attached payment source or default payment method.',
};

type Collecting = {
  /** Replaces the default payment method of the subscription or customer. */
  method?: string | undefined;
  isAuthenticated?: boolean | undefined;
};

/** Charges an open invoice, and settles it or records the failure. */
export function collectInvoice(world: World, id: string, { method: given, isAuthenticated }: Collecting = {}): Outcome {
  const invoice = world.invoices.get(id);
  const method = given ? world.paymentMethods.get(given, 'payment_method') : payingMethod(world, invoice);
  const { paymentIntent } = invoice._;
  const outcome: Outcome =
    method && paymentIntent
      ? attemptPayment(world, paymentIntent, method, { isAuthenticated })
      : { kind: 'declined', decline: nothingToCharge };
  recordAttempt(world, id, outcome, method);
  if (outcome.kind === 'paid') settleInvoice(world, id);
  else if (outcome.kind === 'processing') markActive(world, invoice);
  else failInvoice(world, id, outcome);
  return outcome;
}

/** The payment method that an invoice is charged to by default. */
export function payingMethod(world: World, invoice: Invoice): PaymentMethod | undefined {
  const id = subscriptionOf(invoice);
  const payer = id ? world.subscriptions.get(id) : { customer: invoice.customer, default_payment_method: null };
  return defaultMethod(world, payer);
}

/** Recorded: a first payment that needs authentication is attempted and not counted. */
function recordAttempt(world: World, id: string, outcome: Outcome, method: PaymentMethod | undefined): void {
  world.invoices.change(
    id,
    (invoice) => {
      const isCounted = outcome.kind !== 'action' || invoice.billing_reason === 'subscription_cycle';
      invoice.attempted = true;
      invoice.attempt_count += isCounted ? 1 : 0;
      invoice._.lastMethod = method?.id ?? null;
      invoice._.lastDecline = declineCodeOf(outcome);
    },
    null,
  );
}

function declineCodeOf(outcome: Outcome): string | null {
  if (outcome.kind === 'action') return 'authentication_required';
  return outcome.kind === 'declined' ? (outcome.decline.decline_code ?? outcome.decline.code) : null;
}

/** Emits the events of an invoice whose payment failed; an active subscription becomes past due. */
export function failInvoice(world: World, id: string, { kind }: Pick<Outcome, 'kind'>): void {
  const invoice = world.invoices.get(id);
  if (kind === 'action') world.emit('invoice.payment_action_required', invoice);
  if (kind !== 'action' || invoice.billing_reason !== 'subscription_create') {
    world.emit('invoice.payment_failed', invoice);
  }
  const subscription = subscriptionOf(invoice);
  if (!subscription || world.subscriptions.get(subscription).status !== 'active') return;
  world.customers.change(invoice.customer, (customer) => void (customer.delinquent = true));
  world.subscriptions.change(subscription, (subscription) => void (subscription.status = 'past_due'));
}

/** A pending bank debit counts as paid until the bank refuses it. */
function markActive(world: World, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  if (!id || world.subscriptions.get(id).status !== 'incomplete') return;
  world.subscriptions.change(id, (subscription) => void (subscription.status = 'active'));
}
