import { type Call, idOf, type World } from '../world.ts';
import type { Subscription } from '../objects.ts';
import { notFound, invalid } from '../api/errors.ts';
import { subscriptionOf } from '../invoices/lines.ts';

/** How long a first payment may stay open: 23 hours. */
const incompleteFor = 23 * 3600;

export function isEnded({ status }: Pick<Subscription, 'status'>): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
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
  const { status, created, cancel_at: end } = subscription;
  if (isEnded(subscription)) return null;
  if (status === 'incomplete') return created + incompleteFor;
  return status === 'paused' ? end : Math.min(periodEnd(subscription), end ?? Infinity);
}

/** Ends a subscription at once. Throws 404 for one that has ended. */
export function cancelSubscription(world: World, call: Call): Subscription {
  const subscription = world.subscriptions.get(idOf(call));
  if (isEnded(subscription)) throw notFound('subscription', subscription.id);
  return endSubscription(world, subscription.id);
}

type Ending = {
  reason?: 'cancellation_requested' | 'payment_failed';
  /** It ends at its `cancel_at`, as scheduled. */
  isPlanned?: boolean;
};

/** Ends a subscription and its schedule at once, and stops all charges. */
export function endSubscription(world: World, id: string, ending: Ending = {}): Subscription {
  const before = world.subscriptions.get(id);
  if (isEnded(before)) return before;
  const { reason = 'cancellation_requested', isPlanned = false } = ending;
  stopCollecting(world, id);
  if (before.schedule) cancelSchedule(world, before.schedule);
  return world.subscriptions.change(
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

type Params = { cancel_at?: number | string | null; cancel_at_period_end?: boolean | undefined };

/** Schedules a subscription's cancellation, or undoes that. Throws for a subscription with a schedule. */
export function applyCancellation(world: World, id: string, params: Params): void {
  const { cancel_at: at, cancel_at_period_end: atPeriodEnd } = params;
  if (at === undefined && atPeriodEnd === undefined) return;
  if (at !== undefined && atPeriodEnd !== undefined) {
    throw invalid('You may only specify one of these parameters: cancel_at, cancel_at_period_end.', 'cancel_at');
  }
  const subscription = world.subscriptions.get(id);
  const { schedule } = subscription;
  if (schedule) {
    throw invalid(
      `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    );
  }
  const end = atPeriodEnd ? periodEnd(subscription) : Number(at ?? 0) || null;
  if (end !== null && end <= world.now()) throw invalid('`cancel_at` must be in the future.', 'cancel_at');
  world.subscriptions.change(id, (subscription) => {
    subscription.cancel_at = end;
    subscription.cancel_at_period_end = atPeriodEnd === true;
    subscription.canceled_at = end === null ? null : (subscription.canceled_at ?? world.now());
    subscription.cancellation_details.reason = end === null ? null : 'cancellation_requested';
  });
}
