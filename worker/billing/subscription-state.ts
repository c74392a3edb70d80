import type { Stripe } from 'stripe';
import { plans, type PaidPlanId, type PlanId } from '../contract/plans.ts';
import type { SubscriptionStatus } from '../contract/schemas.ts';
import { weekMs } from '../usage/week.ts';
import { bestOf, type Live, idOf, isLive, nextPhase } from './subscriptions.ts';
import type { PaidWeek } from './invoices.ts';

export type SubscriptionState = {
  tier: PlanId;
  status: SubscriptionStatus;
  renewalAt: number | null;
  cancelAt: number | null;
  scheduledTier: PlanId | null;
  /** `over`: payments are collected again, and no week was paid since. */
  collectionPause: 'paused' | 'over' | null;
  /** Null for a pause until further notice. */
  resumesAt: number | null;
  /** Null if nothing was paid. */
  weekAnchor: number | null;
  /** The week is a paid one: it lasts until the next one is paid. */
  weekFrozen: boolean;
  /** The plan has ended before the paid week was over. */
  isCutOff: boolean;
  /** The plan begins when it is paid, at the end of our own trial. */
  tierWaits: boolean;
  endsTrial: boolean;
  hadSubscription: boolean;
  live: boolean;
  doubled: boolean;
  unknownPrice: string | null;
};

export const planAfterTrialMetadata = { begins: 'after_trial' };

export type Known = {
  trialEndsAt: number | null;
  /** A subscription at an unknown price keeps it. */
  heldTier: PlanId;
  heldPause: SubscriptionState['collectionPause'];
  /** Unix ms; null without a paid week. */
  heldWeek: number | null;
  prices: ReadonlyMap<string, PaidPlanId | null>;
  paidWeeks: ReadonlyMap<string, PaidWeek | null>;
};

export function derive(subscriptions: Stripe.Subscription[], known: Known): SubscriptionState {
  const { best, sold, unknown } = bestOf(subscriptions, known.heldTier);
  const history = {
    hadSubscription: subscriptions.length > 0,
    live: subscriptions.some((each) => isLive(each) || each.status === 'incomplete'),
    doubled: sold > 1,
    endsTrial: known.trialEndsAt !== null && subscriptions.some(hasOutlivedTrial),
    unknownPrice: unknown?.items.data[0]?.price.id ?? null,
    isCutOff: !best && endsBefore(subscriptions, known.heldWeek),
  };
  return { ...(best ? stateOf(best, known) : free), ...history };
}

function endsBefore(subscriptions: Stripe.Subscription[], week: number | null): boolean {
  const ends = subscriptions.map(({ ended_at }) => (ended_at ?? 0) * 1000);
  return week !== null && Math.max(0, ...ends) < week + weekMs;
}

const free = {
  tier: 'free',
  status: 'active',
  renewalAt: null,
  cancelAt: null,
  scheduledTier: null,
  collectionPause: null,
  resumesAt: null,
  weekAnchor: null,
  weekFrozen: false,
  tierWaits: false,
} as const;

export function plannedPrice(subscription: Stripe.Subscription): string | null {
  return idOf(nextPhase(subscription)?.items[0]?.price);
}

function stateOf(live: Live, known: Known) {
  const { subscription } = live;
  const isTrialing = subscription.status === 'trialing';
  const isUnpaid = subscription.status === 'unpaid' || subscription.status === 'paused';
  const isPastDue = subscription.status === 'past_due';

  const period = periodOf(live);
  const paid = known.paidWeeks.get(subscription.id);
  const isPaidUp = !isPastDue && paid === undefined;
  const isWeekPaid = isPaidUp || covers(paid, period.start);
  const paidFrom = isPaidUp ? period.start : (paid?.start ?? null);
  const paidTier = isPaidUp ? live.tier : paidTierOf(live.tier, paid);

  const pause = pauseOf(subscription, isWeekPaid ? null : known.heldPause);
  const isLapsed = !isWeekPaid && pause.collectionPause !== null;
  const isWithoutPlan = isUnpaid || isLapsed;
  const tier = isWithoutPlan ? 'free' : paidTier;
  const weekAnchor = isTrialing || isWithoutPlan ? null : paidFrom;

  const cancelAt = cancelInstant(subscription, period.end);
  const planned = known.prices.get(plannedPrice(subscription) ?? '') ?? null;
  const scheduledTier = cancelAt ? null : scheduled(planned, live.tier, isTrialing);

  return {
    tier,
    status: statusOf({
      isUnpaid,
      isPastDue,
      isTrialing,
      cancelAt,
      scheduledTier,
    }),
    renewalAt: isLapsed && subscription.pause_collection ? null : period.end,
    cancelAt,
    scheduledTier,
    ...pause,
    weekAnchor,
    weekFrozen: weekAnchor !== null,
    tierWaits: isTrialing && waitsForTrial(subscription),
  };
}

/** Unix ms. A trial ends its period. */
function periodOf({ subscription, item }: Live): { start: number; end: number } {
  const { status, trial_end: trialEnd } = subscription;
  const end = status === 'trialing' && trialEnd ? trialEnd : item.current_period_end;
  return { start: item.current_period_start * 1000, end: end * 1000 };
}

function pauseOf(
  { pause_collection: pause }: Stripe.Subscription,
  held: SubscriptionState['collectionPause'],
): Pick<SubscriptionState, 'collectionPause' | 'resumesAt'> {
  if (!pause) return { collectionPause: held && 'over', resumesAt: null };
  return {
    collectionPause: 'paused',
    resumesAt: pause.resumes_at ? pause.resumes_at * 1000 : null,
  };
}

function covers(paid: PaidWeek | null | undefined, periodStart: number): boolean {
  return paid !== undefined && paid !== null && paid.start >= periodStart;
}

type StateFacts = Pick<SubscriptionState, 'cancelAt' | 'scheduledTier'> &
  Record<'isUnpaid' | 'isPastDue' | 'isTrialing', boolean>;

function statusOf({
  isUnpaid,
  isPastDue,
  isTrialing,
  cancelAt,
  scheduledTier,
}: StateFacts): SubscriptionStatus {
  if (isUnpaid) return 'unpaid';
  if (isPastDue) return 'past_due';
  if (cancelAt !== null) return 'cancellation_scheduled';
  if (isTrialing) return 'trialing';
  return scheduledTier ? 'downgrade_scheduled' : 'active';
}

function paidTierOf(tier: PlanId, paid: PaidWeek | null | undefined): PlanId {
  if (!paid) return 'free';
  return paid.tier && plans[paid.tier].level < plans[tier].level ? paid.tier : tier;
}

function cancelInstant(subscription: Stripe.Subscription, periodEnd: number): number | null {
  if (subscription.cancel_at) return subscription.cancel_at * 1000;
  return subscription.cancel_at_period_end ? periodEnd : null;
}

/** To a lower plan; during a trial, to any other plan. */
function scheduled(
  planned: PaidPlanId | null,
  tier: PlanId,
  isTrialing: boolean,
): PaidPlanId | null {
  if (!planned || planned === tier) return null;
  return isTrialing || plans[planned].level < plans[tier].level ? planned : null;
}

function waitsForTrial({ metadata }: Pick<Stripe.Subscription, 'metadata'>): boolean {
  return metadata.begins === planAfterTrialMetadata.begins;
}

function hasOutlivedTrial({ trial_end, status, ended_at, metadata }: Stripe.Subscription): boolean {
  if (!trial_end || !waitsForTrial({ metadata }) || status === 'trialing') return false;
  return ended_at === null || ended_at >= trial_end;
}
