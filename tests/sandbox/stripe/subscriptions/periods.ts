import { addInterval } from '../clock.ts';
import { invoiceSubscription } from '../invoices/subscription-invoices.ts';
import { periodLine } from '../invoices/lines.ts';
import type { Period, Subscription, SubscriptionItem } from '../objects.ts';
import type { World } from '../world.ts';
import { defaultMethod, requireMethod } from '../invoices/collect-invoice.ts';
import { endSubscription } from './subscriptions.ts';

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

/**
 * Starts the first paid period, or ends a trial without a card as its settings say. With `isRequested`, a call of the
 * API ends the trial: it is charged at once, and throws without a card.
 */
export function endTrial(world: World, id: string, at: number, { isRequested = false } = {}): void {
  const subscription = world.subscriptions.get(id);
  const missing = subscription.trial_settings.end_behavior.missing_payment_method;
  if (missing !== 'create_invoice' && !defaultMethod(world, subscription)) {
    if (missing === 'cancel') endSubscription(world, id);
    else pauseSubscription(world, id);
    return;
  }
  if (isRequested) requireMethod(world, subscription);
  startPaying(world, subscription, at, isRequested ? 'now' : 'after-draft');
}

function startPaying(world: World, subscription: Subscription, at: number, collect: 'after-draft' | 'now'): void {
  const lines = subscription.items.data.map((item) => periodLine(world, subscription, item, periodFrom(at, item)));
  invoiceSubscription(world, subscription.id, {
    reason: 'subscription_cycle',
    lines,
    collect,
    edit(subscription) {
      Object.assign(subscription, {
        status: 'active',
        billing_cycle_anchor: at,
        trial_end: at,
        pending_setup_intent: null,
      });
      for (const item of subscription.items.data) movePeriod(item, periodFrom(at, item));
    },
  });
}

function pauseSubscription(world: World, id: string): void {
  const type = 'trial_end_without_payment_method';
  const paused = { type: 'subscription', transitioned_at: world.now(), subscription: { type } };
  const subscription = world.subscriptions.change(id, (subscription) => {
    subscription.status = 'paused';
    subscription.status_details = { paused };
  });
  world.emit('customer.subscription.paused', subscription);
}

/** Emits once that a trial is about to end. */
export function announceTrialEnd(world: World, id: string): void {
  world.subscriptions.change(
    id,
    (subscription) => void (subscription._.isTrialEndAnnounced = true),
    'customer.subscription.trial_will_end',
  );
}
