import type { Schedule } from '../types/schedules.ts';
import type { World } from '../types/world.ts';

export function release(world: World, { id, subscription }: Schedule, keepCancelDate = false): Schedule {
  if (subscription) {
    world.subscriptions.change(subscription, (subscription) => {
      subscription.schedule = null;
      if (!keepCancelDate) Object.assign(subscription, { cancel_at: null, canceled_at: null });
    });
  }
  const released = { status: 'released', released_at: world.now(), released_subscription: subscription };
  return world.schedules.change(
    id,
    (schedule) => void Object.assign(schedule, released, { subscription: null, current_phase: null }),
    'subscription_schedule.released',
  );
}
