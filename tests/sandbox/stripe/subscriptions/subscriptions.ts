import type { Stripe } from 'stripe';
import { type Call, idOf, type World } from '../world.ts';
import type { Subscription, Line } from '../objects.ts';
import { notFound, invalid } from '../api/errors.ts';
import { creditLine, subscriptionOf } from '../invoices/lines.ts';
import { draftInvoice, finalizeInvoice } from '../invoices/draft-invoice.ts';

/** How long a first payment may stay open: 23 hours. */
const incompleteFor = 23 * 3600;
/** Stripe announces a trial's end three days ahead. */
export const trialNotice = 3 * 86_400;

export function isEnded({ status }: Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

export function isLive(subscription: Subscription): boolean {
  return !isEnded(subscription);
}

/** The earliest end of its items' current periods. */
export function periodEnd(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_end));
}

export function periodStart(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_start));
}

/** When the clock changes it next, in unix seconds. */
export function subscriptionDueAt(subscription: Subscription): number | null {
  const { status, created, cancel_at, trial_end } = subscription;
  if (isEnded(subscription)) return null;
  if (status === 'incomplete') return created + incompleteFor;
  if (status === 'paused') return cancel_at;
  const ends = cancel_at ?? Infinity;
  if (status !== 'trialing' || trial_end === null) return Math.min(periodEnd(subscription), ends);
  const notice = subscription._.isTrialEndAnnounced ? Infinity : trial_end - trialNotice;
  return Math.min(trial_end, notice, ends);
}

/** Ends a subscription at once. Throws 404 for one that has ended. */
export function cancelSubscription(world: World, call: Call<Stripe.SubscriptionCancelParams>): Subscription {
  const { invoice_now: invoiceNow = false, prorate = false, cancellation_details: details } = call.params;
  const subscription = world.subscriptions.get(idOf(call));
  if (isEnded(subscription)) throw notFound('subscription', subscription.id);
  world.subscriptions.change(
    subscription.id,
    ({ cancellation_details: own }) => {
      own.comment = details?.comment || own.comment;
      own.feedback = details?.feedback || own.feedback;
    },
    null,
  );
  return endSubscription(world, subscription.id, { invoiceNow, prorate });
}

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

type Params = { cancel_at?: unknown; cancel_at_period_end?: boolean | undefined };

/** Schedules a subscription's cancellation, or undoes that. Throws for a subscription with a schedule. */
export function applyCancellation(world: World, id: string, params: Params): void {
  const { cancel_at: at, cancel_at_period_end: atPeriodEnd } = params;
  if (at === undefined && atPeriodEnd === undefined) return;
  if (at !== undefined && atPeriodEnd !== undefined) {
    throw invalid('You may only specify one of these parameters: cancel_at, cancel_at_period_end.', 'cancel_at');
  }
  const subscription = world.subscriptions.get(id);
  refuseWhenScheduled(subscription);
  const end =
    atPeriodEnd === undefined ? momentOf(world, subscription, at) : atPeriodEnd ? periodEnd(subscription) : null;
  world.subscriptions.change(id, (subscription) => {
    subscription.cancel_at = end;
    subscription.cancel_at_period_end = atPeriodEnd === true;
    subscription.canceled_at = end === null ? null : (subscription.canceled_at ?? world.now());
    subscription.cancellation_details.reason = end === null ? null : 'cancellation_requested';
  });
}

function refuseWhenScheduled({ schedule }: Subscription): void {
  if (!schedule) return;
  throw invalid(
    `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
  );
}

function momentOf(world: World, subscription: Subscription, at: unknown): number | null {
  if (at === '' || at === null) return null;
  if (typeof at === 'string') return periodEnd(subscription);
  if (Number(at) <= world.now()) throw invalid('`cancel_at` must be in the future.', 'cancel_at');
  return Number(at);
}
