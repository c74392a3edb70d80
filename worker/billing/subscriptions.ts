import type { Stripe } from 'stripe';
import { unlessMissing, unlessRefused } from './stripe-client.ts';

/** Statuses of subscriptions that have not ended, the better ones first. A status that is not listed grants nothing. */
const ranks: Record<string, number> = { active: 0, trialing: 0, past_due: 1, unpaid: 2, paused: 3 };

type Status = Pick<Stripe.Subscription, 'status'>;

/** Whether a subscription has not ended: the portal can change it, and it can charge. */
export function isLive({ status }: Status): boolean {
  return Object.hasOwn(ranks, status);
}

/** 0 for the best status; only for live subscriptions. */
export function rankOf({ status }: Status): number {
  return ranks[status]!;
}

/** Every subscription that a customer ever had, with schedule and latest invoice; null for an unknown customer. */
export function subscriptionsOf(stripe: Stripe, customer: string): Promise<Stripe.Subscription[] | null> {
  const expand = ['data.schedule', 'data.latest_invoice'];
  const list = stripe.subscriptions.list({ customer, status: 'all', limit: 100, expand });
  return unlessMissing(list.autoPagingToArray({ limit: 1000 }));
}

/** The next phase of a running schedule. */
export function nextPhase({
  schedule,
}: Pick<Stripe.Subscription, 'schedule'>): Stripe.SubscriptionSchedule.Phase | null {
  if (!schedule || typeof schedule === 'string' || schedule.status !== 'active' || !schedule.current_phase) return null;
  const { end_date } = schedule.current_phase;
  return schedule.phases.find((phase) => phase.start_date >= end_date) ?? null;
}

/** The id of an object that Stripe sends expanded or as an id. */
export function idOf(object: string | { id: string } | null | undefined): string | null {
  return typeof object === 'string' ? object : (object?.id ?? null);
}

const withoutInvoice = { invoice_now: false, prorate: false } as const;

/** Ends a subscription and its schedule at once; does nothing if it has ended already. */
export async function cancelNow(stripe: Stripe, { id, schedule }: Stripe.Subscription): Promise<void> {
  const scheduleId = idOf(schedule);
  if (scheduleId) await unlessRefused(stripe.subscriptionSchedules.cancel(scheduleId, withoutInvoice));
  await unlessMissing(stripe.subscriptions.cancel(id, withoutInvoice));
}
