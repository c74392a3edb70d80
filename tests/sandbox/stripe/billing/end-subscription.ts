import type { Line } from './lines.ts';
import { creditLine } from './lines.ts';
import { subscriptionOf } from '../objects/invoices.ts';
import { isEnded, type Subscription } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { draftInvoice } from './draft-invoice.ts';
import { finalizeInvoice } from './finalize-invoice.ts';

type Ending = { reason?: 'cancellation_requested' | 'payment_failed'; prorate?: boolean; invoiceNow?: boolean };

/** Ends a subscription at once, and its schedule with it. Nothing charges for it again. */
export function endSubscription(world: World, id: string, ending: Ending = {}): Subscription {
  const before = world.subscriptions.get(id);
  if (isEnded(before)) return before;
  const { reason = 'cancellation_requested', prorate = false, invoiceNow = false } = ending;
  stopCollecting(world, id);
  if (before.schedule) cancelSchedule(world, before.schedule);
  const subscription = world.subscriptions.change(
    id,
    (subscription) => {
      Object.assign(subscription, { status: 'canceled', ended_at: world.now() });
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

function stopCollecting(world: World, subscription: string): void {
  for (const invoice of world.invoices.all()) {
    if (subscriptionOf(invoice) !== subscription || !['draft', 'open'].includes(invoice.status)) continue;
    world.invoices.change(invoice.id, (invoice) => {
      Object.assign(invoice, { auto_advance: false, next_payment_attempt: null });
    });
  }
}

function cancelSchedule(world: World, id: string): void {
  const ended = { status: 'canceled', canceled_at: world.now(), current_phase: null };
  world.schedules.change(id, (schedule) => void Object.assign(schedule, ended), 'subscription_schedule.canceled');
}

function invoiceRest(world: World, subscription: Subscription, lines: Line[]): void {
  if (lines.length === 0) return;
  const invoice = draftInvoice(world, subscription, 'subscription_update', lines);
  world.subscriptions.change(subscription.id, (subscription) => {
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
  });
  finalizeInvoice(world, invoice.id);
}
