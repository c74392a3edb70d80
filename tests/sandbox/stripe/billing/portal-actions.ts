import { invalid } from '../errors.ts';
import { liveCustomer } from '../objects/live-customer.ts';
import { newPaymentMethod } from '../objects/new-payment-method.ts';
import { hasFuturePhase } from '../objects/portal-flow.ts';
import { release } from './release-schedule.ts';
import { scheduleSubscription } from './schedule-subscription.ts';
import { isLive, periodEnd } from '../objects/subscriptions.ts';
import { attach } from './attach-method.ts';
import { markSetUp } from './attempt-payment.ts';
import { changeItems } from './change-items.ts';
import { endSubscription } from './end-subscription.ts';
import { endTrial } from './end-trial.ts';
import { periodFrom } from './renew-subscription.ts';
import { phaseOf } from './read-phases.ts';
import { applyCancellation } from './schedule-cancellation.ts';
import type { TestCard } from './test-cards.ts';
import type { PortalConfiguration } from '../types/portal-configurations.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/** A dearer plan is charged and applies at once, or nothing changes; a cheaper one may start with the next period. */
export function switchPlan(
  world: World,
  id: string,
  priceId: string,
  { features }: PortalConfiguration,
  { isAuthenticated = false } = {},
): 'now' | 'later' {
  const { subscription_update: update } = features;
  const subscription = world.subscriptions.get(id);
  const [item] = subscription.items.data;
  const isOffered = update.enabled && update.products.some(({ prices }) => prices.includes(priceId));
  if (!item || !isOffered) throw invalid('This plan is not offered.', 'price');
  if (hasFuturePhase(world, subscription)) throw invalid('Cancel the scheduled change first.', 'price');
  undoEnd(world, subscription);
  const isCheaper = world.prices.get(priceId).unit_amount < item.price.unit_amount;
  const waits = update.schedule_at_period_end.conditions.some(({ type }) => type === 'decreasing_item_amount');
  if (isCheaper && waits) return switchLater(world, id, priceId);
  const restart = update.billing_cycle_anchor === 'now';
  const manner = {
    proration: update.proration_behavior,
    paymentBehavior: 'error_if_incomplete',
    restart,
    isAuthenticated,
  };
  changeItems(world, id, [{ id: item.id, price: priceId }], manner);
  if (subscription.status === 'trialing' && update.trial_update_behavior === 'end_trial')
    endTrial(world, id, world.now(), { isRequested: true });
  return 'now';
}

/** A change of plan undoes a scheduled cancellation and releases a schedule without future phases. */
function undoEnd(world: World, { id, schedule, cancel_at: at }: Subscription): void {
  if (schedule) release(world, world.schedules.get(schedule));
  else if (at !== null) applyCancellation(world, id, { cancel_at: '' });
}

function switchLater(world: World, id: string, price: string): 'later' {
  const subscription = world.subscriptions.get(id);
  const [item] = subscription.items.data;
  if (!item) return 'later';
  const { id: schedule } = scheduleSubscription(world, subscription);
  const present = phaseOf(subscription);
  const { start, end } = periodFrom(present.end_date, { ...item, price: world.prices.get(price) });
  const items = present.items.map((item) => ({ ...item, price, plan: price }));
  const next = { ...present, start_date: start, end_date: end, items, proration_behavior: 'none', trial_end: null };
  world.schedules.change(schedule, (schedule) => void (schedule.phases = [present, next]));
  return 'later';
}

/** Ends a subscription as the configuration says: at its period's end, or now. */
export function cancelInPortal(world: World, id: string, { features }: PortalConfiguration): void {
  const { enabled, mode } = features.subscription_cancel;
  if (!enabled) throw invalid('Canceling is not offered.');
  const subscription = world.subscriptions.get(id);
  if (subscription.schedule) release(world, world.schedules.get(subscription.schedule));
  if (mode === 'immediately') return void endSubscription(world, id);
  const isFlexible = subscription.billing_mode.type === 'flexible';
  applyCancellation(world, id, isFlexible ? { cancel_at: periodEnd(subscription) } : { cancel_at_period_end: true });
}

export function keepSubscription(world: World, id: string): void {
  applyCancellation(world, id, { cancel_at: '' });
}

/** Undoes a scheduled cancellation. */
export function cancelScheduledChange(world: World, id: string): void {
  const { schedule } = world.subscriptions.get(id);
  if (schedule) release(world, world.schedules.get(schedule));
}

/** Makes a new card the default. Open invoices are charged to it at their next retry. */
export function updateCard(world: World, customerId: string, card: TestCard): void {
  const { id } = attach(world, newPaymentMethod(world, card).id, liveCustomer(world, customerId).id);
  markSetUp(world, id);
  world.customers.change(customerId, (customer) => void (customer.invoice_settings.default_payment_method = id));
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer !== customerId || !isLive(subscription)) continue;
    world.subscriptions.change(subscription.id, (subscription) => void (subscription.default_payment_method = id));
  }
}
