import { type Call, idOf, type World } from '../world.ts';
import type { Subscription, Schedule, Phase } from '../objects.ts';
import { notFound, invalid } from '../api/errors.ts';
import { subscriptionOf } from '../invoices/lines.ts';
import newObjects from '../parameters/new-objects.json' with { type: 'json' };
import { newId } from '../table.ts';
import { planOf } from '../catalogue.ts';

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
  const { status, created, cancel_at: end, pause_collection: pause } = subscription;
  if (isEnded(subscription)) return null;
  if (status === 'incomplete') return created + incompleteFor;
  const resumesAt = pause?.resumes_at ?? null;
  const dates = [end, resumesAt, status === 'paused' ? null : periodEnd(subscription)];
  const dueAt = Math.min(...dates.map((date) => date ?? Infinity));
  return dueAt === Infinity ? null : dueAt;
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
  if (before.schedule) endSchedule(world, before.schedule);
  const { canceled_at: canceledAt, cancellation_details: details } = before;
  // Recorded: canceling at once removes the scheduled end; the time of the first request stays.
  const unplanned = isPlanned
    ? {}
    : {
        cancel_at: null,
        cancel_at_period_end: false,
      };
  const ended = {
    status: 'canceled',
    ended_at: world.now(),
    canceled_at: canceledAt ?? world.now(),
  } as const;
  const changes = {
    ...unplanned,
    ...ended,
    cancellation_details: {
      ...details,
      reason: details.reason ?? reason,
    },
  };
  return world.subscriptions.change(id, changes, 'customer.subscription.deleted');
}

/** Stops Stripe from finalizing and charging a subscription's invoices automatically. */
export function stopCollecting(world: World, subscription: string): void {
  const stopped = {
    auto_advance: false,
    automatically_finalizes_at: null,
    next_payment_attempt: null,
  };
  for (const invoice of world.invoices.all()) {
    if (subscriptionOf(invoice) !== subscription || !['draft', 'open'].includes(invoice.status))
      continue;
    world.invoices.change(invoice.id, stopped);
  }
}

function endSchedule(world: World, id: string): void {
  const ended = {
    status: 'canceled',
    canceled_at: world.now(),
    current_phase: null,
  } as const;
  world.schedules.change(id, ended, 'subscription_schedule.canceled');
}

type Params = {
  cancel_at?: number | string | null;
  cancel_at_period_end?: boolean | undefined;
};

/** Schedules a subscription's cancellation, or undoes that. Throws for a subscription with a schedule. */
export function applyCancellation(world: World, id: string, params: Params): void {
  const { cancel_at: at, cancel_at_period_end: atPeriodEnd } = params;
  if (at === undefined && atPeriodEnd === undefined) return;
  if (at !== undefined && atPeriodEnd !== undefined)
    throw invalid(
      'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
      'cancel_at',
    );
  const subscription = world.subscriptions.get(id);
  const { schedule } = subscription;
  if (schedule) {
    throw invalid(
      `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    );
  }
  const end = atPeriodEnd ? periodEnd(subscription) : Number(at ?? 0) || null;
  if (end !== null && end <= world.now())
    throw invalid('`cancel_at` must be in the future.', 'cancel_at');
  world.subscriptions.change(id, (subscription) => {
    subscription.cancel_at = end;
    subscription.cancel_at_period_end = atPeriodEnd === true;
    subscription.canceled_at = end === null ? null : (subscription.canceled_at ?? world.now());
    subscription.cancellation_details.reason = end === null ? null : 'cancellation_requested';
  });
}

export function scheduleDueAt({ status, current_phase: phase }: Schedule): number | null {
  return status === 'active' && phase ? phase.end_date : null;
}

/** Creates a schedule from a subscription as it is; the portal adds the phase of a cheaper plan. */
export function createSchedule(
  world: World,
  { params }: Call<{ from_subscription: string }>,
): Schedule {
  return scheduleSubscription(
    world,
    world.subscriptions.get(params.from_subscription, 'from_subscription'),
  );
}

/** Ends the schedule and keeps the subscription as it is; later phases do not take place. */
export function releaseSchedule(world: World, call: Call): Schedule {
  return release(world, running(world, idOf(call), 'release'));
}

/** Ends the schedule and its subscription at once. */
export function cancelSchedule(world: World, call: Call): Schedule {
  const { id, subscription } = running(world, idOf(call), 'cancel');
  endSubscription(world, subscription ?? '');
  return world.schedules.get(id);
}

function running(world: World, id: string, verb: string): Schedule {
  const schedule = world.schedules.get(id);
  if (schedule.status === 'active') return schedule;
  throw invalid(
    `You cannot ${verb} a subscription schedule that is currently in the \`${schedule.status}\` status. It must be in one of these statuses: not_started, active.`,
  );
}

export function scheduleSubscription(world: World, subscription: Subscription): Schedule {
  if (isEnded(subscription) || subscription.cancel_at !== null) {
    throw invalid(
      'You cannot create a subscription schedule from a subscription that is canceled.',
      'from_subscription',
    );
  }
  if (subscription.schedule) {
    throw invalid(
      `You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}`,
      'from_subscription',
    );
  }
  const phase = phaseOf(subscription);
  const schedule = world.schedules.insert({
    billing_mode: subscription.billing_mode,
    id: newId('sub_sched_1'),
    object: 'subscription_schedule',
    created: world.now(),
    current_phase: {
      start_date: phase.start_date,
      end_date: phase.end_date,
    },
    customer: subscription.customer,
    phases: [phase],
    subscription: subscription.id,
  });
  world.subscriptions.change(subscription.id, { schedule: schedule.id });
  return schedule;
}

export function release(world: World, { id, subscription }: Schedule): Schedule {
  if (subscription) world.subscriptions.change(subscription, { schedule: null });
  const released = {
    status: 'released',
    released_at: world.now(),
    released_subscription: subscription,
  } as const;
  const changes = {
    ...released,
    subscription: null,
    current_phase: null,
  };
  return world.schedules.change(id, changes, 'subscription_schedule.released');
}

/** The phase that describes a subscription without a schedule. */
export function phaseOf(subscription: Subscription): Phase {
  return {
    ...newObjects['subscription_schedule.phase'],
    currency: subscription.currency,
    start_date: periodStart(subscription),
    end_date: periodEnd(subscription),
    items: subscription.items.data.map(({ price: { id }, quantity, metadata }) => ({
      ...newObjects['subscription_schedule.phase.item'],
      price: id,
      plan: id,
      quantity,
      metadata,
    })),
    trial_end: subscription.status === 'trialing' ? subscription.trial_end : null,
  };
}

/** Ends the current phase: the next one begins, or the schedule is released. */
export function nextPhase(world: World, id: string): void {
  const schedule = world.schedules.get(id);
  const start = schedule.current_phase?.end_date ?? world.now();
  const phase = schedule.phases.find(
    ({ start_date, end_date }) => start_date <= start && start < end_date,
  );
  if (!phase) return void release(world, schedule);
  const current = {
    start_date: phase.start_date,
    end_date: phase.end_date,
  };
  world.schedules.change(id, { current_phase: current });
  world.subscriptions.change(schedule.subscription ?? '', (subscription) =>
    swapPrices(world, subscription, phase),
  );
}

/** A phase ends with its period, so that the renewal charges the new price. */
function swapPrices(world: World, { items }: Subscription, phase: Phase): void {
  for (const [index, item] of items.data.entries()) {
    const planned = phase.items[index];
    if (!planned) continue;
    item.price = world.prices.get(planned.price);
    item.plan = planOf(item.price);
  }
}
