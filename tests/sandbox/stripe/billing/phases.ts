import { planOf } from '../objects/plans.ts';
import { release } from './release-schedule.ts';
import { newSubscriptionItem } from '../objects/new-subscription-item.ts';
import { periodEnd } from '../objects/subscriptions.ts';
import { changeItems } from './change-items.ts';
import { endSubscription } from './end-subscription.ts';
import { endTrial } from './end-trial.ts';
import type { Phase, Schedule } from '../types/schedules.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** Applies the current phase to the subscription, after the schedule was edited. */
export function applyCurrentPhase(world: World, schedule: Schedule, proration?: string): void {
  const phase = schedule.phases.find(({ start_date }) => start_date === schedule.current_phase?.start_date);
  if (!phase) return nextPhase(world, schedule.id);
  if (!schedule.subscription) return;
  applyPhase(world, schedule.subscription, phase, proration ?? 'create_prorations');
  keepTrial(world, schedule.subscription, phase);
  const end = schedule.end_behavior === 'cancel' ? (schedule.phases.at(-1)?.end_date ?? null) : null;
  world.subscriptions.change(schedule.subscription, (subscription) => void (subscription.cancel_at = end));
}

/** A phase describes the whole subscription: one without the running trial ends the trial. */
function keepTrial(world: World, id: string, phase: Phase): void {
  const { status, trial_end: end } = world.subscriptions.get(id);
  if (status !== 'trialing' || phase.trial_end === end) return;
  if (phase.trial_end === null) return endTrial(world, id, world.now());
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { trial_end: phase.trial_end, billing_cycle_anchor: phase.trial_end });
    for (const item of subscription.items.data) item.current_period_end = phase.trial_end ?? item.current_period_end;
  });
}

/** Ends the current phase: the next one begins, or the schedule is completed. */
export function nextPhase(world: World, id: string): void {
  const schedule = world.schedules.get(id);
  const start = schedule.current_phase?.end_date ?? world.now();
  const phase = schedule.phases.find(({ start_date, end_date }) => start_date <= start && start < end_date);
  if (!phase) return finish(world, schedule);
  const current = { start_date: phase.start_date, end_date: phase.end_date };
  world.schedules.change(id, (schedule) => void (schedule.current_phase = current));
  if (schedule.subscription) applyPhase(world, schedule.subscription, phase, phase.proration_behavior);
}

function finish(world: World, schedule: Schedule): void {
  if (schedule.end_behavior !== 'cancel') return void release(world, schedule, true);
  const done = { status: 'completed', completed_at: world.now(), current_phase: null };
  world.schedules.change(
    schedule.id,
    (schedule) => void Object.assign(schedule, done),
    'subscription_schedule.completed',
  );
  const { subscription } = schedule;
  if (!subscription) return;
  world.subscriptions.change(subscription, (subscription) => void (subscription.schedule = null), null);
  endSubscription(world, subscription);
}

function applyPhase(world: World, id: string, phase: Phase, proration: string): void {
  const subscription = world.subscriptions.get(id);
  // If the period ends with the phase, the renewal charges the new price.
  if (periodEnd(subscription) <= world.now()) return swapPrices(world, subscription, phase);
  const items = subscription.items.data;
  const wanted = phase.items.map(({ price, quantity }, index) => ({
    ...(items[index] && { id: items[index].id }),
    price,
    quantity,
  }));
  const extra = items.slice(phase.items.length).map(({ id }) => ({ id, deleted: true }));
  changeItems(world, id, [...wanted, ...extra], { proration });
}

function swapPrices(world: World, subscription: Subscription, phase: Phase): void {
  const current = subscription.items.data;
  const items = phase.items.map(({ price: id, quantity }, index): SubscriptionItem => {
    const price = world.prices.get(id);
    const period = {
      start: subscription.items.data[0]?.current_period_start ?? world.now(),
      end: periodEnd(subscription),
    };
    const item =
      current[index] ?? newSubscriptionItem({ subscription: subscription.id, price, period, created: world.now() });
    return { ...item, price, plan: planOf(price), quantity };
  });
  world.subscriptions.change(subscription.id, (subscription) => void (subscription.items.data = items));
}
