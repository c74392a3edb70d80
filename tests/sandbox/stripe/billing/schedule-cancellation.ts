import { invalid } from '../errors.ts';
import { periodEnd } from '../objects/subscriptions.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

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
