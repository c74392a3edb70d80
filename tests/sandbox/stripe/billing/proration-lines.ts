import { shortDate } from '../interval.ts';
import { newLine, productName } from './lines.ts';
import type { Line, Period } from '../types/lines.ts';
import type { Subscription, SubscriptionItem } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** The credit for the rest of the period at the old price, and the charge for it at the new one. */
export function prorationLines(
  world: World,
  subscription: Subscription,
  before: SubscriptionItem,
  after: SubscriptionItem,
): Line[] {
  const period = { start: world.now(), end: before.current_period_end };
  const length = before.current_period_end - before.current_period_start;
  const share = length === 0 ? 0 : (period.end - period.start) / length;
  return [creditLine(world, subscription, before), remainingLine(world, subscription, after, period, share)];
}

/** The credit for the rest of an item's period. */
export function creditLine(world: World, subscription: Subscription, item: SubscriptionItem): Line {
  const period = { start: world.now(), end: item.current_period_end };
  const share = (period.end - period.start) / (item.current_period_end - item.current_period_start || 1);
  const amount = toCents(-item.price.unit_amount * item.quantity * share);
  const description = `Unused time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  const credited = subscription._.billed[item.id];
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true, credited });
}

/** Recorded: Stripe rounds each line, and half a cent towards minus infinity. */
function toCents(amount: number): number {
  return Math.ceil(amount - 0.5);
}

function remainingLine(
  world: World,
  subscription: Subscription,
  item: SubscriptionItem,
  period: Period,
  share: number,
): Line {
  const amount = toCents(item.price.unit_amount * item.quantity * share);
  const description = `Remaining time on ${productName(world, item.price)} after ${shortDate(period.start)}`;
  return newLine({ subscription, item, price: item.price, period }, { amount, description, proration: true });
}
