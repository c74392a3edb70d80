import { subscriptionOf } from './lines.ts';
import { type Decline, invalid } from '../api/errors.ts';
import {
  attemptPayment,
  type Outcome,
  authenticationFailed,
  failIntent,
} from '../payments/charges.ts';
import type { Invoice, PaymentMethod, Subscription } from '../objects.ts';
import { type Call, idOf, type World } from '../world.ts';

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
export function collectInvoice(
  world: World,
  id: string,
  { method: given, isAuthenticated }: Collecting = {},
): Outcome {
  const invoice = world.invoices.get(id);
  const method = given
    ? world.paymentMethods.get(given, 'payment_method')
    : payingMethod(world, invoice);
  const { paymentIntent } = invoice._;
  const outcome: Outcome =
    method && paymentIntent
      ? attemptPayment(world, paymentIntent, method, isAuthenticated)
      : { kind: 'declined', decline: nothingToCharge };
  recordAttempt(world, id, outcome, method);
  if (outcome.kind === 'paid') settleInvoice(world, id);
  else failInvoice(world, id, outcome);
  return outcome;
}

/** The payment method that an invoice is charged to by default. */
export function payingMethod(world: World, invoice: Invoice): PaymentMethod | undefined {
  const id = subscriptionOf(invoice);
  const payer = id
    ? world.subscriptions.get(id)
    : { customer: invoice.customer, default_payment_method: null };
  return defaultMethod(world, payer);
}

/** Recorded: a first payment that needs authentication is attempted and not counted. */
function recordAttempt(
  world: World,
  id: string,
  outcome: Outcome,
  method: PaymentMethod | undefined,
): void {
  const { attempt_count: count, billing_reason: reason, _: internal } = world.invoices.get(id);
  const isAction = outcome.kind === 'action';
  const isCounted = !isAction || reason === 'subscription_cycle';
  const unauthenticated = isAction ? (method?.id ?? null) : null;
  const attempt = {
    attempted: true,
    attempt_count: count + Number(isCounted),
    _: { ...internal, unauthenticated },
  };
  world.invoices.change(id, attempt, null);
}

/**
 * Emits the events of an invoice whose payment failed. Stripe documents for `past_due`: "Payment on the latest finalized
 * invoice either failed or wasn't attempted"; an older invoice changes no status.
 * https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
function failInvoice(world: World, id: string, { kind }: Pick<Outcome, 'kind'>): void {
  const invoice = world.invoices.get(id);
  if (kind === 'action') world.emit('invoice.payment_action_required', invoice);
  if (kind !== 'action' || invoice.billing_reason !== 'subscription_create') {
    world.emit('invoice.payment_failed', invoice);
  }
  const subscription = subscriptionOf(invoice);
  if (!subscription) return;
  const { status, _: internal } = world.subscriptions.get(subscription);
  if (status !== 'active' || internal.lastFinalized !== id) return;
  world.subscriptions.change(subscription, { status: 'past_due' });
}

/** Marks an invoice as paid. When it is its subscription's latest finalized one, the subscription is active again. */
export function settleInvoice(world: World, id: string): Invoice {
  const now = world.now();
  const invoice = world.invoices.change(id, (invoice) => {
    Object.assign(invoice, {
      status: 'paid',
      amount_paid: invoice.amount_due,
      amount_remaining: 0,
    });
    Object.assign(invoice, {
      auto_advance: false,
      next_payment_attempt: null,
      automatically_finalizes_at: null,
    });
    invoice.attempted = true;
    invoice.status_transitions.paid_at = now;
  });
  if (invoice._.payment) {
    const payment = world.invoicePayments.change(invoice._.payment, (payment) => {
      Object.assign(payment, {
        status: 'paid',
        amount_paid: payment.amount_requested,
      });
      payment.status_transitions.paid_at = now;
    });
    world.emit('invoice_payment.paid', payment);
  }
  world.emit('invoice.paid', invoice);
  world.emit('invoice.payment_succeeded', invoice);
  reactivateSubscription(world, invoice);
  return invoice;
}

function reactivateSubscription(
  world: World,
  invoice: Invoice,
  from = ['incomplete', 'past_due', 'unpaid'],
): void {
  const subscription = subscriptionOf(invoice);
  if (!subscription) return;
  const { id, status, _: internal } = world.subscriptions.get(subscription);
  if (internal.lastFinalized !== invoice.id || !from.includes(status)) return;
  world.subscriptions.change(id, { status: 'active' });
}

type Payer = Pick<Subscription, 'customer' | 'default_payment_method'>;

/** The payment method of a subscription, else the default of its customer. */
export function defaultMethod(world: World, payer: Payer): PaymentMethod | undefined {
  const customer = world.customers.find(payer.customer);
  const ids = [payer.default_payment_method, customer?.invoice_settings.default_payment_method];
  return ids
    .map((id) => (id ? world.paymentMethods.find(id) : undefined))
    .find((method) => method?.customer === payer.customer);
}

/** Throws if a subscription has no payment method. */
export function requireMethod(world: World, subscription: Subscription): void {
  if (defaultMethod(world, subscription)) return;
  const message =
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.';
  throw invalid(message, undefined, 'resource_missing');
}

/** Whether the payment of an invoice waits for authentication by the cardholder. */
export function awaitsAuthentication(
  world: World,
  { status, _: { paymentIntent } }: Invoice,
): boolean {
  return (
    status === 'open' &&
    world.paymentIntents.find(paymentIntent ?? '')?.status === 'requires_action'
  );
}

/** Completes or fails the authentication that the payment of an invoice waits for. */
export function authenticateInvoice(
  world: World,
  id: string,
  { succeeds }: { succeeds: boolean },
): Invoice {
  const { paymentIntent } = world.invoices.get(id)._;
  const intent = world.paymentIntents.get(paymentIntent ?? '');
  const method = world.paymentMethods.get(intent.payment_method ?? '');
  if (succeeds && attemptPayment(world, intent.id, method, true).kind === 'paid') {
    world.invoices.change(id, (invoice) => void (invoice.attempt_count ||= 1), null);
    return settleInvoice(world, id);
  }
  if (!succeeds) failIntent(world, intent.id, authenticationFailed);
  failInvoice(world, id, { kind: 'declined' });
  return world.invoices.get(id);
}

function openInvoice(world: World, call: Call): string {
  const { id, status } = world.invoices.get(idOf(call));
  if (status === 'open') return id;
  throw invalid("You can only pass in open invoices. This invoice isn't open.");
}

/** Gives an open invoice up. Documented: a subscription that is past due because of it becomes active. */
export function markUncollectible(world: World, call: Call): Invoice {
  const invoice = endInvoice(world, openInvoice(world, call), 'uncollectible');
  reactivateSubscription(world, invoice, ['past_due']);
  return invoice;
}

export const voidInvoice = (world: World, call: Call) =>
  closeInvoice(world, openInvoice(world, call));

/** Voids an open invoice. If a first invoice is voided, its subscription expires. */
export function closeInvoice(world: World, id: string): Invoice {
  const invoice = endInvoice(world, id, 'void');
  const { paymentIntent } = invoice._;
  const canceled = {
    status: 'canceled',
    canceled_at: world.now(),
    cancellation_reason: 'void_invoice',
  } as const;
  const changes = { ...canceled, next_action: null };
  if (paymentIntent) world.paymentIntents.change(paymentIntent, changes, 'payment_intent.canceled');
  expireSubscription(world, invoice);
  return invoice;
}

export function endInvoice(world: World, id: string, status: 'uncollectible' | 'void'): Invoice {
  const ended = status === 'void' ? 'voided' : 'marked_uncollectible';
  const transitions = {
    ...world.invoices.get(id).status_transitions,
    [`${ended}_at`]: world.now(),
  };
  const changes = {
    status,
    auto_advance: false,
    next_payment_attempt: null,
    status_transitions: transitions,
  };
  return world.invoices.change(id, changes, `invoice.${ended}`);
}

function expireSubscription(world: World, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  if (!id) return;
  const { status, latest_invoice: latest } = world.subscriptions.get(id);
  if (status !== 'incomplete' || latest !== invoice.id) return;
  world.subscriptions.change(id, {
    status: 'incomplete_expired',
    ended_at: world.now(),
  });
}
