import { defaultMethod } from './default-method.ts';
import { endSubscription } from './end-subscription.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { periodLine } from './lines.ts';
import { requireMethod } from './require-method.ts';
import { movePeriod, periodFrom } from './renew-subscription.ts';
import type { MissingMethod, Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

/**
 * Starts the first paid period, or ends a trial without a card as its settings say. With `isRequested`, a call of the
 * API ends the trial: it is charged at once, and throws without a card.
 */
export function endTrial(world: World, id: string, at: number, { isRequested = false } = {}): void {
  const subscription = world.subscriptions.get(id);
  const missing: MissingMethod = subscription.trial_settings.end_behavior.missing_payment_method;
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
