import type { Stripe } from 'stripe';
import { portalMark } from './portal-mark.ts';
import { isRefusal } from './stripe.ts';

type Flow = Stripe.BillingPortal.SessionCreateParams.FlowData;

/** The address of a portal session, in a flow where one fits; a flow that Stripe refuses falls back to the plain portal. */
export async function openPortal(stripe: Stripe, customer: string, siteUrl: string, flow?: Flow): Promise<string> {
  const configuration = await configurationOf(stripe);
  const plain: Stripe.BillingPortal.SessionCreateParams = {
    customer,
    return_url: `${siteUrl}/account`,
    ...(configuration && { configuration }),
  };
  if (!flow) return (await stripe.billingPortal.sessions.create(plain)).url;
  try {
    return (await stripe.billingPortal.sessions.create({ ...plain, flow_data: flow })).url;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return (await stripe.billingPortal.sessions.create(plain)).url;
  }
}

/** The flow that fits a live subscription: mend the payment, choose a plan, or none while something is scheduled. */
export function fittingFlow(subscription: Stripe.Subscription, siteUrl: string): Flow | undefined {
  const after_completion = { type: 'redirect', redirect: { return_url: `${siteUrl}/auth/stripe-success` } } as const;
  if (subscription.status === 'past_due' || subscription.status === 'unpaid') {
    return { type: 'payment_method_update', after_completion };
  }
  const scheduled = subscription.cancel_at ?? (subscription.cancel_at_period_end || hasFuturePhase(subscription));
  if (scheduled || subscription.items.data.length !== 1) return undefined;
  return { type: 'subscription_update', subscription_update: { subscription: subscription.id }, after_completion };
}

function hasFuturePhase({ schedule }: Stripe.Subscription): boolean {
  if (!schedule || typeof schedule === 'string' || !schedule.current_phase) return false;
  const { end_date } = schedule.current_phase;
  return schedule.phases.some((phase) => phase.start_date >= end_date);
}

async function configurationOf(stripe: Stripe): Promise<string | undefined> {
  const { data } = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  return data.find(({ metadata }) => metadata?.solace === portalMark.solace)?.id;
}
