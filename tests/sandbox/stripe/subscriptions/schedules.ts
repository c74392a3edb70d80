import { type Call, idOf, type World } from '../world.ts';
import newObjects from '../parameters/new-objects.json' with { type: 'json' };
import { newId } from '../table.ts';
import { endSubscription, isEnded, periodEnd, periodStart } from './subscriptions.ts';
import { invalid } from '../api/errors.ts';
import type { Schedule, Subscription, Phase } from '../objects.ts';
import { planOf } from '../catalogue.ts';

export function scheduleDueAt({ status, current_phase: phase }: Schedule): number | null {
  return status === 'active' && phase ? phase.end_date : null;
}

/** Creates a schedule from a subscription as it is; the portal adds the phase of a cheaper plan. */
export function createSchedule(world: World, { params }: Call<{ from_subscription: string }>): Schedule {
  return scheduleSubscription(world, world.subscriptions.get(params.from_subscription, 'from_subscription'));
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
    current_phase: { start_date: phase.start_date, end_date: phase.end_date },
    customer: subscription.customer,
    phases: [phase],
    subscription: subscription.id,
  });
  world.subscriptions.change(subscription.id, (subscription) => void (subscription.schedule = schedule.id));
  return schedule;
}

export function release(world: World, { id, subscription }: Schedule): Schedule {
  if (subscription) world.subscriptions.change(subscription, (released) => void (released.schedule = null));
  const released = { status: 'released', released_at: world.now(), released_subscription: subscription };
  return world.schedules.change(
    id,
    (schedule) => void Object.assign(schedule, released, { subscription: null, current_phase: null }),
    'subscription_schedule.released',
  );
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
  const phase = schedule.phases.find(({ start_date, end_date }) => start_date <= start && start < end_date);
  if (!phase) return void release(world, schedule);
  const current = { start_date: phase.start_date, end_date: phase.end_date };
  world.schedules.change(id, (schedule) => void (schedule.current_phase = current));
  world.subscriptions.change(schedule.subscription ?? '', (subscription) => swapPrices(world, subscription, phase));
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
