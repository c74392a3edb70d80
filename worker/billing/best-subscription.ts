import type { Stripe } from 'stripe';
import { plans, type PlanId } from '../contract/plans.ts';
import { tierOfPrice } from './prices.ts';
import { isLive, rankOf } from './subscriptions.ts';

/** A live subscription with the item that sells its plan. */
export type Live = { subscription: Stripe.Subscription; item: Stripe.SubscriptionItem; tier: PlanId };

type Choice = {
  best: Live | undefined;
  /** How many live subscriptions sell a plan. */
  sold: number;
  /** A live subscription without a plan. */
  unknown: Stripe.Subscription | undefined;
};

/** The relevant live subscription: best status first, then highest plan, then newest. */
export function bestOf(subscriptions: Stripe.Subscription[], heldTier: PlanId): Choice {
  const live = subscriptions.filter(isLive);
  const sold = live.flatMap(atKnownPrice);
  const unknown = live.filter((subscription) => atKnownPrice(subscription).length === 0);
  const [best] = [...sold, ...kept(sold, unknown, heldTier)].toSorted(bestFirst);
  return { best, sold: sold.length, unknown: unknown[0] };
}

/** The item that sells the highest plan; others are add-ons. */
function atKnownPrice(subscription: Stripe.Subscription): Live[] {
  const sold = subscription.items.data.flatMap((item) => {
    const tier = tierOfPrice(item.price);
    return tier ? [{ subscription, item, tier }] : [];
  });
  return sold.toSorted((a, b) => plans[b.tier].level - plans[a.tier].level).slice(0, 1);
}

/** An unknown price keeps the current plan if no other subscription grants one; it never grants a new one. */
function kept(sold: Live[], unknown: Stripe.Subscription[], tier: PlanId): Live[] {
  if (tier === 'free' || sold.some(({ subscription }) => grants(subscription))) return [];
  return unknown.filter(grants).flatMap((subscription) => {
    const [item] = subscription.items.data;
    return item ? [{ subscription, item, tier }] : [];
  });
}

function grants({ status }: Stripe.Subscription): boolean {
  return status === 'active' || status === 'trialing' || status === 'past_due';
}

function bestFirst(a: Live, b: Live): number {
  return (
    rankOf(a.subscription) - rankOf(b.subscription) ||
    plans[b.tier].level - plans[a.tier].level ||
    b.subscription.created - a.subscription.created
  );
}
