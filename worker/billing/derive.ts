import type { Stripe } from 'stripe';
import { plans, type PaidPlanId, type PlanId } from '../contract/plans.ts';
import type { SubscriptionStatus } from '../contract/shapes.ts';
import { trialPlanMark } from './trial-plan-mark.ts';
import { tierOfPrice } from './tier-of-price.ts';

const weekMs = 7 * 86_400_000;

/** What Stripe's subscriptions mean for a user; instants in unix ms. */
export type Standing = {
  tier: PlanId;
  status: SubscriptionStatus;
  renewalAt: number | null;
  cancelAt: number | null;
  scheduledTier: PlanId | null;
  /** The start of the paid week; null for somebody who does not pay. */
  weekAnchor: number | null;
  /** Stripe still retries the payment: no new week until it is paid. */
  weekFrozen: boolean;
  /** The plan begins when our own trial ends. */
  tierWaits: boolean;
  /** By Stripe's clock our own trial is over. */
  endsTrial: boolean;
  hadSubscription: boolean;
  /** More than one subscription lives: somebody pays twice. */
  doubled: boolean;
};

type Live = { subscription: Stripe.Subscription; item: Stripe.SubscriptionItem; tier: PaidPlanId };

/** Which statuses live, the better ones first. Whatever Stripe may add to them grants nothing. */
const ranks: Record<string, number> = { active: 0, trialing: 0, past_due: 1, unpaid: 2, paused: 3 };

type Known = {
  /** The end of our own trial, in unix ms, while it is granted. */
  trialEndsAt: number | null;
  /** The plan of each price that a schedule goes over to (`plannedPrice`). */
  planned: ReadonlyMap<string, PaidPlanId | null>;
};

/** From all subscriptions of a customer, ended ones too, to what holds now. */
export function derive(subscriptions: Stripe.Subscription[], known: Known): Standing {
  const { trialEndsAt } = known;
  const live = subscriptions.flatMap(asLive).toSorted(byWorth);
  const endsTrial = trialEndsAt !== null && subscriptions.some(hasOutlivedTrial);
  const history = { hadSubscription: subscriptions.length > 0, doubled: live.length > 1, endsTrial };
  const [best] = live;
  return best ? { ...standingOf(best, known), ...history } : { ...free, ...history };
}

const free = {
  tier: 'free',
  status: 'active',
  renewalAt: null,
  cancelAt: null,
  scheduledTier: null,
  weekAnchor: null,
  weekFrozen: false,
  tierWaits: false,
} as const;

/** The price of the phase that follows the present one, where a schedule runs. */
export function plannedPrice({ schedule }: Stripe.Subscription): string | null {
  if (!schedule || typeof schedule === 'string' || schedule.status !== 'active' || !schedule.current_phase) return null;
  const today = schedule.current_phase;
  const price = schedule.phases.find((phase) => phase.start_date >= today.end_date)?.items[0]?.price;
  return typeof price === 'string' ? price : (price?.id ?? null);
}

function standingOf({ subscription, item, tier }: Live, { trialEndsAt, planned }: Known) {
  const trialing = subscription.status === 'trialing';
  const unpaid = subscription.status === 'unpaid' || subscription.status === 'paused';
  const pastDue = subscription.status === 'past_due';
  const periodStart = item.current_period_start * 1000;
  const periodEnd = (trialing && subscription.trial_end ? subscription.trial_end : item.current_period_end) * 1000;
  const cancelAt = cancelInstant(subscription, periodEnd);
  const scheduledTier = cancelAt
    ? null
    : scheduled(planned.get(plannedPrice(subscription) ?? '') ?? null, tier, trialing);
  return {
    tier: unpaid ? ('free' as const) : tier,
    status: statusOf({ unpaid, pastDue, trialing, cancelAt, scheduledTier }),
    renewalAt: periodEnd,
    cancelAt,
    scheduledTier,
    weekAnchor: trialing || unpaid ? null : pastDue ? periodStart - weekMs : periodStart,
    weekFrozen: pastDue,
    tierWaits: trialing && trialEndsAt !== null,
  };
}

type Facts = Pick<Standing, 'cancelAt' | 'scheduledTier'> & Record<'unpaid' | 'pastDue' | 'trialing', boolean>;

function statusOf({ unpaid, pastDue, trialing, cancelAt, scheduledTier }: Facts): SubscriptionStatus {
  if (unpaid) return 'unpaid';
  if (pastDue) return 'past_due';
  if (cancelAt !== null) return 'cancellation_scheduled';
  if (trialing) return 'trialing';
  return scheduledTier ? 'downgrade_scheduled' : 'active';
}

function asLive(subscription: Stripe.Subscription): Live[] {
  const item = subscription.items.data.toSorted((a, b) => a.current_period_end - b.current_period_end)[0];
  const tier = item && tierOfPrice(item.price);
  return tier && Object.hasOwn(ranks, subscription.status) ? [{ subscription, item, tier }] : [];
}

function byWorth(a: Live, b: Live): number {
  return (
    ranks[a.subscription.status]! - ranks[b.subscription.status]! ||
    plans[b.tier].level - plans[a.tier].level ||
    b.subscription.created - a.subscription.created
  );
}

function cancelInstant(subscription: Stripe.Subscription, periodEnd: number): number | null {
  if (subscription.cancel_at) return subscription.cancel_at * 1000;
  return subscription.cancel_at_period_end ? periodEnd : null;
}

/** A scheduled change counts where it leads to a lower plan; during a trial, to any other. */
function scheduled(planned: PaidPlanId | null, tier: PaidPlanId, trialing: boolean): PaidPlanId | null {
  if (!planned || planned === tier) return null;
  return trialing || plans[planned].level < plans[tier].level ? planned : null;
}

/** Whether a subscription that waited for our trial's end has come to it. */
function hasOutlivedTrial({ trial_end, status, ended_at, metadata }: Stripe.Subscription): boolean {
  if (!trial_end || metadata.begins !== trialPlanMark.begins || status === 'trialing') return false;
  return ended_at === null || ended_at >= trial_end;
}
