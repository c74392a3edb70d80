import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { endSubscription } from '../billing/end-subscription.ts';
import { applyCurrentPhase } from '../billing/phases.ts';
import { currentPhase, readPhases } from '../billing/read-phases.ts';
import { invalid } from '../errors.ts';
import { requireCustomer } from './live-customer.ts';
import { mergeMetadata } from './metadata.ts';
import { scheduleSubscription } from '../billing/schedule-subscription.ts';
import { release } from '../billing/release-schedule.ts';
import type { Schedule } from '../types/schedules.ts';
import type { World } from '../types/world.ts';

export function scheduleDueAt({ status, current_phase: phase }: Schedule): number | null {
  return status === 'active' && phase ? phase.end_date : null;
}

/** Creates a schedule from a subscription as it is; an update adds phases. */
export function createSchedule(world: World, { params }: Call<Stripe.SubscriptionScheduleCreateParams>): Schedule {
  const { from_subscription: from, expand: _, ...others } = params;
  if (!from)
    throw invalid(
      'The local Stripe keeps schedules of existing subscriptions only: pass `from_subscription`.',
      'from_subscription',
    );
  const [other] = Object.keys(others);
  if (other) throw invalid(`You cannot set \`${other}\` if \`from_subscription\` is set.`, other);
  return scheduleSubscription(world, world.subscriptions.get(from, 'from_subscription'));
}

export function updateSchedule(world: World, call: Call<Stripe.SubscriptionScheduleUpdateParams>): Schedule {
  const { params } = call;
  const schedule = running(world, idOf(call), 'update');
  const phases = params.phases ? readPhases(world, schedule, params.phases) : schedule.phases;
  const updated = world.schedules.change(schedule.id, (schedule) => {
    schedule.phases = phases;
    schedule.current_phase = currentPhase(phases, world.now());
    schedule.end_behavior = params.end_behavior ?? schedule.end_behavior;
    schedule.metadata = mergeMetadata(schedule.metadata, params.metadata);
  });
  applyCurrentPhase(world, updated, params.proration_behavior);
  return world.schedules.get(schedule.id);
}

/** Ends the schedule and keeps the subscription as it is; later phases do not take place. */
export function releaseSchedule(world: World, call: Call<Stripe.SubscriptionScheduleReleaseParams>): Schedule {
  return release(world, running(world, idOf(call), 'release'), call.params.preserve_cancel_date);
}

/** Ends the schedule and its subscription at once. */
export function cancelSchedule(world: World, call: Call<Stripe.SubscriptionScheduleCancelParams>): Schedule {
  const { invoice_now: invoiceNow = true, prorate = true } = call.params;
  const schedule = running(world, idOf(call), 'cancel');
  if (schedule.subscription) endSubscription(world, schedule.subscription, { invoiceNow, prorate });
  return world.schedules.get(schedule.id);
}

function running(world: World, id: string, verb: string): Schedule {
  const schedule = world.schedules.get(id);
  if (schedule.status === 'active') return schedule;
  throw invalid(
    `You cannot ${verb} a subscription schedule that is currently in the \`${schedule.status}\` status. It must be in one of these statuses: not_started, active.`,
  );
}

export function listSchedules(world: World, { params }: Call<Stripe.SubscriptionScheduleListParams>) {
  requireCustomer(world, params.customer);
  const found = world.schedules
    .all()
    .filter((schedule) => params.customer === undefined || schedule.customer === params.customer)
    .filter((schedule) => inRange(schedule.created, params.created))
    .filter(() => !params.scheduled);
  return pageOf(found, params, '/v1/subscription_schedules', world.schedules);
}
