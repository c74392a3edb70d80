import { addInterval } from '../interval.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine } from './lines.ts';
import type { Period } from '../types/lines.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** The period of an item from `start` on. */
export function periodFrom(start: number, item: SubscriptionItem): Period {
  const { interval = 'week', interval_count: count = 1 } = item.price.recurring ?? {};
  return { start, end: addInterval(start, interval, count) };
}

export function movePeriod(item: SubscriptionItem, { start, end }: Period): void {
  Object.assign(item, { current_period_start: start, current_period_end: end, billed_until: end });
}

/** Starts a new period. Its invoice is charged an hour later; that of an unpaid subscription stays a draft. */
export function renewSubscription(world: World, id: string): void {
  const before = world.subscriptions.get(id);
  const lines = before.items.data.map((item) =>
    periodLine(world, before, item, periodFrom(item.current_period_end, item)),
  );
  invoiceSubscription(world, id, {
    reason: 'subscription_cycle',
    lines,
    edit: moveToNextPeriod,
    collect: 'after-draft',
  });
}

function moveToNextPeriod(subscription: Subscription): void {
  for (const item of subscription.items.data) movePeriod(item, periodFrom(item.current_period_end, item));
}
