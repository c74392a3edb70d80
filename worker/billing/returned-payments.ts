import type { Stripe } from 'stripe';
import { unlessMissing } from './stripe-client.ts';

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
