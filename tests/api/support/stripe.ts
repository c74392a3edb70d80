import { Stripe } from 'stripe';
import { vars } from './api.ts';
import { run } from './sandbox.ts';

const base = new URL(vars.STRIPE_API_BASE!);

/** The stock SDK against the local Stripe. */
export const stripe = new Stripe(vars.STRIPE_SECRET_KEY!, {
  host: base.hostname,
  port: base.port,
  protocol: 'http',
  httpClient: Stripe.createFetchHttpClient(),
  telemetry: false,
});

export type Tier = 'basic' | 'premium' | 'platinum';

export async function customerOf(phone: string): Promise<string> {
  const sql =
    'select c.stripe_id from customers c join users u on u.id = c.user_id where u.phone = ?';
  return (await run(sql, phone)).rows[0]!.stripe_id as string;
}

export async function subscriptionOf(customer: string): Promise<Stripe.Subscription> {
  const { data } = await stripe.subscriptions.list({
    customer,
    status: 'all',
  });
  return data[0]!;
}

export async function latestInvoice(customer: string): Promise<Stripe.Invoice> {
  const { latest_invoice: latest } = await subscriptionOf(customer);
  return stripe.invoices.retrieve(latest as string);
}

/** The amounts (cents) that a customer has paid, newest first. */
export async function paymentsOf(customer: string): Promise<number[]> {
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return data.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount);
}

/** Changes the price of a customer's subscription, as the owner can in the dashboard. */
export async function changePrice(
  customer: string,
  price: string,
  more: Stripe.SubscriptionUpdateParams = {},
) {
  const { id, items } = await subscriptionOf(customer);
  await stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]!.id, price }],
    ...more,
  });
}

/** Takes something off each later week of a customer's subscription, as the owner can in the dashboard. */
export async function stripeCoupon(customer: string, off: Stripe.CouponCreateParams) {
  const { id: coupon } = await stripe.coupons.create({
    ...off,
    duration: 'forever',
  });
  const { id } = await subscriptionOf(customer);
  await stripe.subscriptions.update(id, { discounts: [{ coupon }] });
}

export async function priceOf(tier: string): Promise<string> {
  return (await stripe.prices.list({ lookup_keys: [`${tier}_weekly`] })).data[0]!.id;
}

/** The ids of the customers with a number. */
export async function customersWith(phone: string): Promise<string[]> {
  const all = await stripe.customers.list({ limit: 100 }).autoPagingToArray({ limit: 10_000 });
  return all.filter((customer) => customer.phone === phone).map(({ id }) => id);
}

/** Another call holds the lease of a customer until an instant (unix ms). */
export const holdLease = (customer: string, until: number) =>
  run(
    'update customers set lease_until = ?, lease_token = hex(randomblob(16)) where stripe_id = ?',
    until,
    customer,
  );

export const isDeleted = async (customer: string) =>
  (await stripe.customers.retrieve(customer)).deleted === true;

export async function refundsOf(customer: string): Promise<number[]> {
  const { data } = await stripe.creditNotes.list({
    customer,
    limit: 100,
  });
  return data.map(({ total }) => total);
}
