import type { Stripe } from 'stripe';
import { requireOwner } from './foreign-customer.ts';
import { unlessMissing, unlessRefused, wholeList } from './stripe-client.ts';
import { paidPlanIds, plans, type PaidPlanId, type PlanId } from '../contract/plans.ts';

const ranks: Record<string, number> = {
  active: 0,
  trialing: 0,
  past_due: 1,
  unpaid: 2,
  paused: 3,
};

type Status = Pick<Stripe.Subscription, 'status'>;

export function isLive({ status }: Status): boolean {
  return Object.hasOwn(ranks, status);
}

function rankOf({ status }: Status): number {
  return ranks[status]!;
}

export function owes({ status }: Status): boolean {
  return status === 'past_due' || status === 'unpaid';
}

export function isCancelled(
  subscription: Pick<Stripe.Subscription, 'cancel_at' | 'cancel_at_period_end'>,
): boolean {
  return subscription.cancel_at !== null || subscription.cancel_at_period_end;
}

/** Null for an unknown customer; 503 for another's. */
export async function subscriptionsOf(
  stripe: Stripe,
  customer: string,
  userId: string,
): Promise<Stripe.Subscription[] | null> {
  const expand = ['data.schedule', 'data.latest_invoice', 'data.customer'];
  const list = stripe.subscriptions.list({
    customer,
    status: 'all',
    limit: 100,
    expand,
  });
  const found = await unlessMissing(list.autoPagingToArray(wholeList));
  for (const subscription of found ?? []) requireOwner(subscription.customer, userId);
  return found;
}

export function nextPhase({
  schedule,
}: Pick<Stripe.Subscription, 'schedule'>): Stripe.SubscriptionSchedule.Phase | null {
  if (
    !schedule ||
    typeof schedule === 'string' ||
    schedule.status !== 'active' ||
    !schedule.current_phase
  )
    return null;
  const { end_date } = schedule.current_phase;
  return schedule.phases.find((phase) => phase.start_date >= end_date) ?? null;
}

export function idOf(object: string | { id: string } | null | undefined): string | null {
  return typeof object === 'string' ? object : (object?.id ?? null);
}

const withoutInvoice = { invoice_now: false, prorate: false } as const;

export async function cancelNow(
  stripe: Stripe,
  { id, schedule }: Stripe.Subscription,
): Promise<void> {
  const scheduleId = idOf(schedule);
  if (scheduleId)
    await unlessRefused(stripe.subscriptionSchedules.cancel(scheduleId, withoutInvoice));
  await unlessMissing(stripe.subscriptions.cancel(id, withoutInvoice));
}

export type Live = {
  subscription: Stripe.Subscription;
  item: Stripe.SubscriptionItem;
  tier: PlanId;
};

type Choice = {
  best: Live | undefined;
  sold: number;
  unknown: Stripe.Subscription | undefined;
};

export function bestOf(subscriptions: Stripe.Subscription[], heldTier: PlanId): Choice {
  const live = subscriptions.filter(isLive);
  const sold = live.flatMap(atKnownPrice);
  const unknown = live.filter((subscription) => atKnownPrice(subscription).length === 0);
  const [best] = [...sold, ...kept(sold, unknown, heldTier)].toSorted(bestFirst);
  return { best, sold: sold.length, unknown: unknown[0] };
}

function atKnownPrice(subscription: Stripe.Subscription): Live[] {
  const sold = subscription.items.data.flatMap((item) => {
    const tier = tierOfPrice(item.price);
    return tier ? [{ subscription, item, tier }] : [];
  });
  return sold.toSorted((a, b) => plans[b.tier].level - plans[a.tier].level).slice(0, 1);
}

/** An unknown price never grants a new plan. */
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

export function lookupKeyOf(tier: PaidPlanId): string {
  return `${tier}_weekly`;
}

/** By metadata, then lookup key; else null. */
export function tierOfPrice(
  price: Pick<Stripe.Price, 'metadata' | 'lookup_key'>,
): PaidPlanId | null {
  const tier = price.metadata?.tier ?? price.lookup_key?.replace(/_weekly$/, '') ?? '';
  return paidPlanIds.find((id) => id === tier) ?? null;
}

export async function currentPriceOf(stripe: Stripe, tier: PaidPlanId): Promise<string | null> {
  if (!plans[tier].onSale) return null;
  const { data } = await stripe.prices.list({
    lookup_keys: [lookupKeyOf(tier)],
    active: true,
    limit: 1,
  });
  return data[0]?.id ?? null;
}

export const portalMetadata = { solace: 'portal' };

export type UnknownPrice = { price: string; subscription: string };

export async function unknownPricesInUse(stripe: Stripe): Promise<UnknownPrice[]> {
  const found: UnknownPrice[] = [];
  for await (const price of stripe.prices.list({
    limit: 100,
    type: 'recurring',
  })) {
    if (tierOfPrice(price)) continue;

    for await (const subscription of stripe.subscriptions.list({
      price: price.id,
      limit: 100,
      expand: ['data.customer'],
    })) {
      const { customer, items } = subscription;
      const ours =
        typeof customer === 'object' && !customer.deleted && customer.metadata.userId !== undefined;
      if (!ours || !isLive(subscription) || items.data.some((item) => tierOfPrice(item.price)))
        continue;

      found.push({ price: price.id, subscription: subscription.id });
      break;
    }
  }
  return found;
}
