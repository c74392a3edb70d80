import { Stripe } from 'stripe';
import { expect } from 'vitest';
import { call, vars } from './api.ts';
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

/** The events of a customer's subscriptions, invoices and payments since an instant (unix seconds), oldest first. */
export async function eventsOf(customer: string, since = 0): Promise<Stripe.Event[]> {
  const response = await fetch(`${vars.SANDBOX}/stripe/events?customer=${customer}`);
  const events = await response.json<Stripe.Event[]>();
  const isOwned = ({ data }: Stripe.Event) => (data.object as { customer?: string }).customer === customer;
  return events.filter((event) => event.created >= since && isOwned(event));
}

/** Posts a body to the Worker as Stripe does. */
export async function postEvent(
  event: unknown,
  details: { secret?: string; at?: number; signature?: string; settings?: Record<string, string> } = {},
) {
  const payload = typeof event === 'string' ? event : JSON.stringify(event);
  const { secret = vars.STRIPE_WEBHOOK_SECRET!, at = Math.floor(Date.now() / 1000) } = details;
  const signature =
    details.signature ?? (await stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp: at }));
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  const { status, body } = await call('POST', '/api/webhooks/stripe', {
    headers,
    text: payload,
    ...(details.settings && { settings: details.settings }),
  });
  return { status, body };
}

/**
 * Posts events at once and, as Stripe does, posts those again that the Worker could not store: with more than a hundred
 * at once on a busy machine the database does not always respond in time, which is 503.
 */
export async function deliverAtOnce(events: Stripe.Event[]): Promise<void> {
  let refused = events;
  for (let attempt = 0; attempt < 10 && refused.length > 0; attempt += 1) {
    const statuses = await Promise.all(refused.map(async (event) => (await postEvent(event)).status));
    expect([200, 503], 'the statuses of events').toEqual(expect.arrayContaining(statuses));
    refused = refused.filter((_, index) => statuses[index] === 503);
  }
  expect(refused, 'events that were refused ten times').toEqual([]);
}

const delivered = new Set<string>();

/** Posts to the Worker, oldest first, the events of a customer since an instant that it has not posted before. */
export async function deliver(customer: string, since = 0): Promise<void> {
  for (const event of await eventsOf(customer, since)) {
    if (delivered.has(event.id)) continue;
    delivered.add(event.id);
    await postEvent(event);
  }
}
