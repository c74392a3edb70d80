import { creditLine } from './proration-lines.ts';
import { subscriptionOf } from '../objects/invoices.ts';
import { isEnded } from '../objects/subscriptions.ts';
import { draftInvoice } from './draft-invoice.ts';
import { finalizeInvoice } from './finalize-invoice.ts';
import type { Line } from '../types/lines.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Ending = {
  reason?: 'cancellation_requested' | 'payment_failed' | 'payment_disputed';
  prorate?: boolean;
  invoiceNow?: boolean;
  /** It ends at its `cancel_at`, as scheduled. */
  isPlanned?: boolean;
};

/** Ends a subscription and its schedule at once, and stops all charges. */
export function endSubscription(world: World, id: string, ending: Ending = {}): Subscription {
  const before = world.subscriptions.get(id);
  if (isEnded(before)) return before;
  const { reason = 'cancellation_requested', prorate = false, invoiceNow = false, isPlanned = false } = ending;
  stopCollecting(world, id);
  if (before.schedule) cancelSchedule(world, before.schedule);
  const subscription = world.subscriptions.change(
    id,
    (subscription) => {
      Object.assign(subscription, { status: 'canceled', ended_at: world.now() });
      // Recorded: canceling at once removes the scheduled end; the time of the first request stays.
      if (!isPlanned) Object.assign(subscription, { cancel_at: null, cancel_at_period_end: false });
      subscription.canceled_at ??= world.now();
      subscription.cancellation_details.reason ??= reason;
    },
    'customer.subscription.deleted',
  );
  const credits =
    prorate && before.status === 'active' ? before.items.data.map((item) => creditLine(world, before, item)) : [];
  if (invoiceNow) invoiceRest(world, subscription, [...before._.pending, ...credits]);
  return world.subscriptions.get(id);
}

/** Stops Stripe from finalizing and charging a subscription's invoices automatically. */
export function stopCollecting(world: World, subscription: string): void {
  for (const invoice of world.invoices.all()) {
    if (subscriptionOf(invoice) !== subscription || !['draft', 'open'].includes(invoice.status)) continue;
    world.invoices.change(invoice.id, (invoice) => {
      Object.assign(invoice, { auto_advance: false, automatically_finalizes_at: null, next_payment_attempt: null });
    });
  }
}

function cancelSchedule(world: World, id: string): void {
  const ended = { status: 'canceled', canceled_at: world.now(), current_phase: null };
  world.schedules.change(id, (schedule) => void Object.assign(schedule, ended), 'subscription_schedule.canceled');
}

function invoiceRest(world: World, subscription: Subscription, lines: Line[]): void {
  if (lines.length === 0) return;
  const { customer, currency } = subscription;
  const invoice = draftInvoice(world, { customer, currency, subscription, reason: 'subscription_cycle', lines });
  world.subscriptions.change(subscription.id, (subscription) => {
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
  });
  finalizeInvoice(world, invoice.id);
}
