import type { MissingMethod, Subscription } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { defaultMethod } from './default-method.ts';
import { endSubscription } from './end-subscription.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine } from './lines.ts';
import { movePeriod, periodFrom } from './renew-subscription.ts';

/** The first paid period begins, or what was wished for a trial without a card happens. */
export function endTrial(world: World, id: string, at: number): void {
  const subscription = world.subscriptions.get(id);
  const missing: MissingMethod = subscription.trial_settings.end_behavior.missing_payment_method;
  if (missing !== 'create_invoice' && !defaultMethod(world, subscription)) {
    if (missing === 'cancel') endSubscription(world, id);
    else pauseSubscription(world, id);
    return;
  }
  startPaying(world, subscription, at);
}

function startPaying(world: World, subscription: Subscription, at: number): void {
  const lines = subscription.items.data.map((item) => periodLine(world, subscription, item, periodFrom(at, item)));
  invoiceSubscription(world, subscription.id, {
    reason: 'subscription_cycle',
    lines,
    edit(subscription) {
      Object.assign(subscription, { status: 'active', billing_cycle_anchor: at, trial_end: at });
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

/** A paused subscription goes on with a new period, which is invoiced. */
export function resumePaused(world: World, id: string): void {
  const subscription = world.subscriptions.change(id, (subscription) => void delete subscription.status_details, null);
  startPaying(world, subscription, world.now());
  world.emit('customer.subscription.resumed', world.subscriptions.get(id));
}

/** Tells once that a trial is about to end. */
export function tellTrialEnd(world: World, id: string): void {
  world.subscriptions.change(
    id,
    (subscription) => void (subscription._.trialEndTold = true),
    'customer.subscription.trial_will_end',
  );
}
