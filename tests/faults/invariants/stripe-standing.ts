import { planOf } from '../../../worker/contract/plans.ts';

type Item = { current_period_end: number; price: { id: string } };
type Subscription = {
  id: string;
  status: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  trial_end: number | null;
  schedule: string | null;
  items: { data: Item[] };
};
type Phase = { start_date: number; end_date: number; items: { price: string }[] };
type Schedule = {
  id: string;
  status: string;
  current_phase: { start_date: number; end_date: number } | null;
  phases: Phase[];
};

/** What the local Stripe holds of one customer. */
export type Holdings = {
  customer: { id: string; deleted?: true };
  subscriptions: Subscription[];
  schedules: Schedule[];
};

/** What a user should see of it: instants in unix ms. */
export type Standing = {
  tier: string;
  status: string;
  renewalAt: number | null;
  cancelAt: number | null;
  scheduledTier: string | null;
};

export const free: Standing = { tier: 'free', status: 'active', renewalAt: null, cancelAt: null, scheduledTier: null };

export const liveIn = ({ subscriptions }: Holdings): Subscription[] =>
  subscriptions.filter(({ status }) => ['active', 'trialing', 'past_due'].includes(status));

/** Read from Stripe's objects alone, without the product's own rules. */
export function standingAt(holdings: Holdings, tiers: Map<string, string>): Standing {
  const [subscription] = liveIn(holdings);
  const item = subscription?.items.data[0];
  if (!subscription || !item) return free;
  const tier = tiers.get(item.price.id) ?? 'free';
  const end = subscription.status === 'trialing' ? subscription.trial_end! : item.current_period_end;
  const cancelAt = subscription.cancel_at ?? (subscription.cancel_at_period_end ? end : null);
  const next = cancelAt === null ? nextTier(subscription, holdings, tiers) : null;
  const isTold = next !== null && next !== tier && (subscription.status === 'trialing' || level(next) < level(tier));
  const scheduledTier = isTold ? next : null;
  return {
    tier,
    status: statusOf(subscription, cancelAt, scheduledTier),
    renewalAt: end * 1000,
    cancelAt: cancelAt && cancelAt * 1000,
    scheduledTier,
  };
}

function statusOf({ status }: Subscription, cancelAt: number | null, scheduledTier: string | null): string {
  if (status === 'past_due') return status;
  if (cancelAt !== null) return 'cancellation_scheduled';
  if (status === 'trialing') return status;
  return scheduledTier ? 'downgrade_scheduled' : 'active';
}

function nextTier({ schedule }: Subscription, { schedules }: Holdings, tiers: Map<string, string>): string | null {
  const plan = schedules.find(({ id, status }) => id === schedule && status === 'active');
  const phase = plan?.phases.find(({ start_date: start }) => start >= (plan.current_phase?.end_date ?? Infinity));
  return (phase && tiers.get(phase.items[0]!.price)) ?? null;
}

const level = (tier: string): number => planOf(tier).level;
