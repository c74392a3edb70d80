import { periodStart, endSubscription, stopCollecting } from '../subscriptions/subscriptions.ts';
import { draftInvoice, finalizeInvoice } from './draft-invoice.ts';
import type { Line, Period, Invoice, Subscription } from '../objects.ts';
import type { World } from '../world.ts';
import { day } from '../clock.ts';
import { subscriptionOf } from './lines.ts';
import { collectInvoice, payingMethod } from './collect-invoice.ts';

type Invoicing = {
  reason: NonNullable<Invoice['billing_reason']>;
  lines: Line[];
  /** The change of the subscription that comes with the invoice. */
  edit?: (subscription: Subscription) => void;
  /** The invoice's period; by default the one of its reason. */
  period?: Period;
  /** A renewal's invoice stays a draft for an hour; with `none` the caller charges the open invoice. */
  collect?: 'after-draft' | 'none' | 'now';
};

/** Invoices a subscription for these lines and its pending prorations. Returns the invoice's id. */
export function invoiceSubscription(world: World, id: string, invoicing: Invoicing): string {
  const { reason, lines, edit, period, collect = 'now' } = invoicing;
  const before = world.subscriptions.get(id);
  const invoice = draftInvoice(world, {
    customer: before.customer,
    currency: before.currency,
    subscription: before,
    reason,
    lines: [...before._.pending, ...lines],
    period: period ?? periodOf(world, before, reason),
    isAutomatic: before.status !== 'unpaid',
  });
  world.subscriptions.change(id, (subscription) => {
    edit?.(subscription);
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
    for (const line of lines) noteBilled(subscription, line, invoice.id);
  });
  if (collect === 'after-draft') return invoice.id;
  const finalized = finalizeInvoice(world, invoice.id);
  if (finalized.status === 'open' && collect === 'now') collectAutomatically(world, invoice.id);
  return invoice.id;
}

/** The period of a renewal's invoice is the week before it; the period of its lines is the week after it. */
function periodOf(world: World, subscription: Subscription, reason: Invoice['billing_reason']): Period {
  const now = world.now();
  const [item] = subscription.items.data;
  if (reason === 'subscription_create' || !item) return { start: now, end: now };
  if (reason === 'subscription_update') return { start: periodStart(subscription), end: now };
  return { start: item.current_period_start, end: item.current_period_end };
}

/** Stores which line billed an item's current period, for the credit of a later change. */
function noteBilled(subscription: Subscription, line: Line, invoice: string): void {
  const { subscription_item: item } = line.parent.subscription_item_details;
  if (line.amount > 0) subscription._.billed[item] = { invoice, invoice_line_items: [line.id] };
}

/**
 * Days after the first failed charge on which a payment is retried. Stripe's default is 8 retries within 2 weeks at
 * times that it chooses; here they are fixed.
 */
const retryDays = { 'two-weeks': [1, 3, 5, 7, 9, 11, 13, 14], 'five-days': [1, 3, 5] } as const;

/** Charges an open invoice without the customer; if that fails, schedules the next retry. */
export function collectAutomatically(world: World, id: string): void {
  if (needsAnotherMethod(world, world.invoices.get(id))) skipAttempt(world, id);
  else if (collectInvoice(world, id).kind === 'paid') return;
  planRetry(world, id);
}

/** Schedules the next retry of an invoice; after the last one, does what the account's settings say. */
function planRetry(world: World, id: string): void {
  const { _: before, customer } = world.invoices.get(id);
  const firstFailure = before.firstFailure ?? world.now();
  const days = retryDays[world.collection(customer).retries][before.retries];
  world.invoices.change(id, (invoice) => {
    invoice.next_payment_attempt = days === undefined ? null : firstFailure + days * day;
    invoice._ = { ...invoice._, firstFailure, retries: before.retries + 1 };
  });
  if (days === undefined) endRetries(world, world.invoices.get(id));
}

/** A renewal's payment that a call of the API tried first: Stripe retries it as its own. */
export function planFirstRetry(world: World, id: string): void {
  const { auto_advance: advances, billing_reason: reason, status, _: internal } = world.invoices.get(id);
  const isRenewal = reason === 'subscription_cycle' && status === 'open';
  if (isRenewal && advances && internal.firstFailure === null) planRetry(world, id);
}

/** After a hard decline, Stripe keeps the retry schedule but charges only another payment method. */
function needsAnotherMethod(world: World, invoice: Invoice): boolean {
  const { unauthenticated } = invoice._;
  return unauthenticated !== null && payingMethod(world, invoice)?.id === unauthenticated;
}

/** Recorded: a skipped retry is counted, without a charge or an event. */
function skipAttempt(world: World, id: string): void {
  world.invoices.change(id, (invoice) => void (invoice.attempt_count += 1), null);
}

function endRetries(world: World, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  const { afterRetries } = world.collection(invoice.customer);
  if (afterRetries === 'past_due' || !id) return;
  if (afterRetries === 'cancel') return void endSubscription(world, id, { reason: 'payment_failed' });
  stopCollecting(world, id);
  world.subscriptions.change(id, (subscription) => void (subscription.status = 'unpaid'));
}
