import type { Stripe } from 'stripe';
import { paidPlanIds, plans, type PaidPlanId } from '../contract/plans.ts';

export function lookupKeyOf(tier: PaidPlanId): string {
  return `${tier}_weekly`;
}

/** The plan that a price sells, by its metadata, then by its lookup key; null for an unknown price. */
export function tierOfPrice(price: Pick<Stripe.Price, 'metadata' | 'lookup_key'>): PaidPlanId | null {
  const tier = price.metadata?.tier ?? price.lookup_key?.replace(/_weekly$/, '') ?? '';
  return paidPlanIds.find((id) => id === tier) ?? null;
}

export async function currentPriceOf(stripe: Stripe, tier: PaidPlanId): Promise<string | null> {
  if (!plans[tier].onSale) return null;
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKeyOf(tier)], active: true, limit: 1 });
  return data[0]?.id ?? null;
}

/** Marks the portals of `npm run stripe:setup`; one with a `price` is for subscriptions at that older price. */
export const portalMetadata = { solace: 'portal' };

export const subscribedEvents = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
  'subscription_schedule.completed',
  'subscription_schedule.aborted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.marked_uncollectible',
  'customer.deleted',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.refunded',
] as const satisfies Stripe.WebhookEndpointCreateParams.EnabledEvent[];
