import type { Stripe } from 'stripe';
import { unlessRefused } from './stripe-client.ts';
import { nextPhase } from './subscriptions.ts';

/**
 * Metadata of the portal configurations that `npm run stripe:setup` keeps. One with a `price` is for
 * subscriptions at that price, which the default configuration does not offer.
 */
export const portalMetadata = { solace: 'portal' };

type Flow = Stripe.BillingPortal.SessionCreateParams.FlowData;

/** The address of a portal session for a customer and the live subscription, in the suitable flow. */
export async function openPortal(
  stripe: Stripe,
  customer: string,
  siteUrl: string,
  { live, flow }: { live: Stripe.Subscription | undefined; flow?: Flow | undefined },
): Promise<string> {
  const configuration = await configurationFor(stripe, live);
  const plain: Stripe.BillingPortal.SessionCreateParams = {
    customer,
    return_url: `${siteUrl}/account`,
    ...(configuration && { configuration }),
  };
  const { sessions } = stripe.billingPortal;
  const inFlow = flow && (await unlessRefused(sessions.create({ ...plain, flow_data: flow })));
  return (inFlow ?? (await sessions.create(plain))).url;
}

/** The flow for a live subscription: another card when a payment is due, no flow while a change is scheduled. */
export function fittingFlow(subscription: Stripe.Subscription, siteUrl: string): Flow | undefined {
  const after_completion = { type: 'redirect', redirect: { return_url: `${siteUrl}/auth/stripe-success` } } as const;
  if (owes(subscription)) return { type: 'payment_method_update', after_completion };
  const scheduled = subscription.cancel_at ?? (subscription.cancel_at_period_end || nextPhase(subscription));
  if (scheduled || subscription.items.data.length !== 1) return undefined;
  return { type: 'subscription_update', subscription_update: { subscription: subscription.id }, after_completion };
}

/** Whether a payment of a subscription is due. */
export function owes({ status }: Pick<Stripe.Subscription, 'status'>): boolean {
  return status === 'past_due' || status === 'unpaid';
}

async function configurationFor(stripe: Stripe, live: Stripe.Subscription | undefined): Promise<string | undefined> {
  const list = stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  const own = (await list).data.filter(({ metadata }) => metadata?.solace === portalMetadata.solace);
  const prices = live?.items.data.map(({ price }) => price.id) ?? [];
  const special = own.find(({ metadata }) => metadata?.price && prices.includes(metadata.price));
  return (special ?? own.find(({ metadata }) => !metadata?.price))?.id;
}
