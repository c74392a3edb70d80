import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { invalid } from '../errors.ts';
import { mergeMetadata } from '../objects/metadata.ts';
import { ownMethod } from '../objects/payment-methods.ts';
import { isEnded } from '../objects/subscriptions.ts';
import { changeItems, type WantedItem } from './change-items.ts';
import { endTrial } from './end-trial.ts';
import { applyCancellation } from './schedule-cancellation.ts';
import type { MissingMethod, Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.SubscriptionUpdateParams;

export function updateSubscription(world: World, call: Call<Params>): Subscription {
  const id = idOf(call);
  const { params } = call;
  const current = world.subscriptions.get(id);
  if (isEnded(current)) refuseEnded(params);
  if (current.status === 'incomplete') refuseIncompleteChange(params);
  if (params.payment_behavior === 'pending_if_incomplete') {
    throw invalid('Pending updates are not kept by the local Stripe.', 'payment_behavior');
  }
  applyFields(world, id, params);
  applyCancellation(world, id, params);
  applyItems(world, id, params);
  applyTrialEnd(world, id, params.trial_end);
  return world.subscriptions.get(id);
}

function refuseEnded(params: Params): void {
  const others = Object.keys(params).filter((name) => !['metadata', 'cancellation_details', 'expand'].includes(name));
  if (others.length === 0) return;
  const message = 'A canceled subscription can only update its cancellation_details and metadata.';
  throw invalid(message, undefined, 'invalid_canceled_subscription_fields');
}

/** Before the first invoice is paid, changes that create another invoice are refused. */
function refuseIncompleteChange(params: Params): void {
  const others = ['items', 'trial_end', 'billing_cycle_anchor'].filter((name) => name in params);
  if (others.length === 0) return;
  throw invalid(
    'You cannot update a subscription in `incomplete` status in such a way that results in updating or creating an invoice.',
  );
}

function applyFields(world: World, id: string, params: Params): void {
  const { default_payment_method: method, description, metadata, trial_settings: trial } = params;
  if (method) ownMethod(world, world.subscriptions.get(id).customer, method, 'default_payment_method');
  world.subscriptions.change(id, (subscription) => {
    if (method !== undefined) subscription.default_payment_method = method || null;
    if (description !== undefined) subscription.description = description || null;
    const { pause_collection: pause } = params;
    if (pause !== undefined) subscription.pause_collection = pause ? { resumes_at: null, ...pause } : null;
    const missing = trial?.end_behavior.missing_payment_method as MissingMethod | undefined;
    if (missing) subscription.trial_settings.end_behavior.missing_payment_method = missing;
    const { comment, feedback } = params.cancellation_details ?? {};
    if (comment !== undefined) subscription.cancellation_details.comment = comment || null;
    if (feedback !== undefined) subscription.cancellation_details.feedback = feedback || null;
    subscription.metadata = mergeMetadata(subscription.metadata, metadata);
  });
}

function applyItems(world: World, id: string, params: Params): void {
  const restart = (params.billing_cycle_anchor as { type?: string } | undefined)?.type === 'now';
  if (params.items === undefined && !restart) return;
  changeItems(world, id, (params.items ?? []) as WantedItem[], {
    proration: params.proration_behavior,
    paymentBehavior: params.payment_behavior,
    restart,
  });
}

function applyTrialEnd(world: World, id: string, wanted: Params['trial_end']): void {
  if (wanted === undefined) return;
  const subscription = world.subscriptions.get(id);
  if (wanted === 'now') {
    if (subscription.status === 'trialing') endTrial(world, id, world.now(), { isRequested: true });
    return;
  }
  const end = wanted;
  if (end <= world.now())
    throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future.', 'trial_end');
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { status: 'trialing', trial_end: end, billing_cycle_anchor: end });
    subscription.trial_start ??= world.now();
    for (const item of subscription.items.data) Object.assign(item, { current_period_end: end, billed_until: end });
    subscription._.isTrialEndAnnounced = false;
  });
}
