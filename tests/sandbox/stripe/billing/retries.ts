import { day } from '../interval.ts';
import { subscriptionOf } from '../objects/invoices.ts';
import { collectInvoice, payingMethod } from './collect-invoice.ts';
import { endSubscription, stopCollecting } from './end-subscription.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/**
 * Days after the first failed charge on which a payment is retried. Stripe's default is 8 retries within 2 weeks at
 * times that it chooses; here they are fixed.
 */
const retryDays = { 'two-weeks': [1, 3, 5, 7, 9, 11, 13, 14], 'five-days': [1, 3, 5] } as const;

/** After one of these, Stripe keeps the retry schedule but charges only another payment method. */
const hardDeclines = new Set([
  'authentication_required',
  'highest_risk_level',
  'incorrect_number',
  'lost_card',
  'pickup_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'stolen_card',
  'transaction_not_allowed',
]);

/** Charges an open invoice without the customer; if that fails, schedules the next retry. */
export function collectAutomatically(world: World, id: string): void {
  if (needsAnotherMethod(world, world.invoices.get(id))) skipAttempt(world, id);
  else if (['paid', 'processing'].includes(collectInvoice(world, id).kind)) return;
  planRetry(world, id);
}

/** Schedules the next retry of an invoice; after the last one, does what the account's settings say. */
export function planRetry(world: World, id: string): void {
  const { _: before, customer } = world.invoices.get(id);
  const firstFailure = before.firstFailure ?? world.now();
  const days = retryDays[world.collection(customer).retries][before.retries];
  world.invoices.change(id, (invoice) => {
    invoice.next_payment_attempt = days === undefined ? null : firstFailure + days * day;
    invoice._ = { ...invoice._, firstFailure, retries: before.retries + 1 };
  });
  if (days === undefined) endRetries(world, world.invoices.get(id));
}

function needsAnotherMethod(world: World, invoice: Invoice): boolean {
  const { lastDecline, lastMethod } = invoice._;
  return lastDecline !== null && hardDeclines.has(lastDecline) && payingMethod(world, invoice)?.id === lastMethod;
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
