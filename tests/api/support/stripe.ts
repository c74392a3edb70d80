import { Stripe } from 'stripe';
import { vars } from './api.ts';
import { database } from './database.ts';

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
/** All tests share Stripe's clock: a remaining subscription is renewed in each test that advances it by weeks. */
export async function endSubscriptions(): Promise<void> {
  for await (const { id } of stripe.subscriptions.list({ limit: 100 })) await stripe.subscriptions.cancel(id);
}

export async function customerOf(phone: string): Promise<string> {
  const sql = 'select c.stripe_id from customers c join users u on u.id = c.user_id where u.phone = ?';
  const { rows } = await database.execute({ sql, args: [phone] });
  return rows[0]!.stripe_id as string;
}

/** Makes the next cron job fetch a customer's state, as an hour without any event does. */
export const makeDue = (customer: string) =>
  database.execute({ sql: 'update customers set due_at = 0 where stripe_id = ?', args: [customer] });

export async function subscriptionOf(customer: string): Promise<Stripe.Subscription> {
  const { data } = await stripe.subscriptions.list({ customer, status: 'all' });
  return data[0]!;
}

export async function latestInvoiceOf(customer: string): Promise<string> {
  const { latest_invoice: latest } = await subscriptionOf(customer);
  return typeof latest === 'string' ? latest : latest!.id;
}

/** Creates another price of a plan, or of none. */
export async function newPrice(tier: Tier | null, cents = 500): Promise<string> {
  const product = await stripe.products.create({ name: 'Another' });
  const recurring = { interval: 'week' as const };
  const metadata = tier ? { metadata: { tier } } : {};
  return (
    await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: cents, recurring, ...metadata })
  ).id;
}

/** Changes the one item of a subscription to another price. */
export async function changePrice({ id, items }: Stripe.Subscription, price: string): Promise<void> {
  await stripe.subscriptions.update(id, { items: [{ id: items.data[0]!.id, price }] });
}

/** The price that is sold for a plan. */
export async function priceOf(tier: string): Promise<string> {
  return (await stripe.prices.list({ lookup_keys: [`${tier}_weekly`] })).data[0]!.id;
}

/** The ids of the customers with a number. */
export async function customersWith(phone: string): Promise<string[]> {
  const all = await stripe.customers.list({ limit: 100 }).autoPagingToArray({ limit: 10_000 });
  return all.filter((customer) => customer.phone === phone).map(({ id }) => id);
}
