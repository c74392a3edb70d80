import type { Stripe } from 'stripe';
import { openStripe, unlessMissing } from '../../billing/stripe-client.ts';
import type { Settings } from '../../settings.ts';

export type ReturnedPayment = {
  charge: string;
  /** Unix ms. */
  at: number;
  /** In the smallest unit of the currency. */
  amount: number;
  refunded: number;
  currency: string;
  /** Stripe's statuses of its disputes. */
  disputes: string[];
};

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

/** The payments of a customer that were disputed or refunded, the newest first. */
export async function returnedPayments(stripe: Stripe, customer: string): Promise<ReturnedPayment[]> {
  const charges = await unlessMissing(stripe.charges.list({ customer, limit: 100 }));
  const returned = (charges?.data ?? []).filter(({ disputed, amount_refunded }) => disputed || amount_refunded > 0);
  const payments: ReturnedPayment[] = [];
  for (const { id, amount, amount_refunded, created, currency, disputed } of returned) {
    const disputes = disputed ? (await stripe.disputes.list({ charge: id })).data.map(({ status }) => status) : [];
    payments.push({ charge: id, at: created * 1000, amount, refunded: amount_refunded, currency, disputes });
  }
  return payments;
}
