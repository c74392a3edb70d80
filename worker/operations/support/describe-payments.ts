import type { Stripe } from 'stripe';
import { returnedPayments, type ReturnedPayment } from '../../billing/disputes.ts';
import { openStripe, unlessMissing } from '../../billing/stripe-client.ts';
import type { Settings } from '../../settings.ts';

type Subscription = { id: string; status: string; createdAt: number; cancelAtPeriodEnd: boolean };
export type Payments =
  | { state: 'known'; subscriptions: Subscription[]; returned: ReturnedPayment[] }
  | { state: 'none' | 'unknown customer' | 'Stripe does not respond' };

/** The subscriptions of a customer at Stripe, and the payments that were disputed or refunded; times in unix ms. */
export async function describePayments(settings: Settings, customer: string | null): Promise<Payments> {
  if (!customer) return { state: 'none' };
  try {
    const stripe = await openStripe(settings);
    const listed = await unlessMissing(stripe.subscriptions.list({ customer, status: 'all', limit: 20 }));
    if (!listed) return { state: 'unknown customer' };
    return {
      state: 'known',
      subscriptions: listed.data.map(summaryOf),
      returned: await returnedPayments(stripe, customer),
    };
  } catch {
    return { state: 'Stripe does not respond' };
  }
}

function summaryOf({ id, status, created, cancel_at_period_end }: Stripe.Subscription): Subscription {
  return { id, status, createdAt: created * 1000, cancelAtPeriodEnd: cancel_at_period_end };
}
