import { addInterval } from '../clock.ts';
import { invoiceSubscription } from '../invoices/subscription-invoices.ts';
import { periodLine } from '../invoices/lines.ts';
import type { Period, Price, Subscription, SubscriptionItem } from '../objects.ts';
import type { World } from '../world.ts';
import { defaultMethod, requireMethod } from '../invoices/collect-invoice.ts';
import { endSubscription } from './subscriptions.ts';

/** The period of a price from `start` on. */
export function periodFrom(start: number, { recurring }: Price): Period {
  return { start, end: addInterval(start, recurring.interval, recurring.interval_count) };
}

export function movePeriod(item: SubscriptionItem, { start, end }: Period): void {
  Object.assign(item, { current_period_start: start, current_period_end: end, billed_until: end });
}

type Renewal = {
  /** When the periods begin; without it, where the present ones end. */
  at?: number;
  changes?: Partial<Subscription>;
  collect?: 'after-draft' | 'now';
};

/** Starts a new period. Its invoice is charged an hour later; that of an unpaid subscription stays a draft. */
export function renewSubscription(world: World, id: string, renewal: Renewal = {}): void {
  const { at, changes, collect = 'after-draft' } = renewal;
  const before = world.subscriptions.get(id);
  const nextOf = (item: SubscriptionItem) => periodFrom(at ?? item.current_period_end, item.price);
  invoiceSubscription(world, id, {
    reason: 'subscription_cycle',
    lines: before.items.data.map((item) => periodLine(world, before, item, nextOf(item))),
    collect,
    edit(subscription) {
      Object.assign(subscription, changes);
      for (const item of subscription.items.data) movePeriod(item, nextOf(item));
    },
  });
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
  const changes = { status: 'active', billing_cycle_anchor: at, trial_end: at, pending_setup_intent: null } as const;
  renewSubscription(world, id, { at, changes, collect: isRequested ? 'now' : 'after-draft' });
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
