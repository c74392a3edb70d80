import { Stripe } from 'stripe';
import { expect } from 'vitest';
import { call, runCron, vars } from './api.ts';
import { database } from './database.ts';
import { sandbox } from './sandbox.ts';

const base = new URL(vars.STRIPE_API_BASE!);

/** The stock SDK against the local Stripe. */
export const stripe = new Stripe(vars.STRIPE_SECRET_KEY!, {
  host: base.hostname,
  port: base.port,
  protocol: 'http',
  httpClient: Stripe.createFetchHttpClient(),
  telemetry: false,
});

/** In seconds, as Stripe counts. */
export const hour = 3600;
export const week = 168 * hour;

export type Tier = 'basic' | 'premium' | 'platinum';

export async function customerOf(phone: string): Promise<string> {
  const sql = 'select c.stripe_id from customers c join users u on u.id = c.user_id where u.phone = ?';
  const { rows } = await database.execute(sql, [phone]);
  return rows[0]!.stripe_id as string;
}

/** The cron job fetches a customer's state, as after an hour without any event. */
export async function fetchByCron(customer: string, cron?: '0 * * * *'): Promise<void> {
  await database.execute('update customers set due_at = 0 where stripe_id = ?', [customer]);
  await runCron(cron);
}

export async function subscriptionOf(customer: string): Promise<Stripe.Subscription> {
  const { data } = await stripe.subscriptions.list({ customer, status: 'all' });
  return data[0]!;
}

/** The amounts (cents) that a customer has paid, newest first. */
export async function paymentsOf(customer: string): Promise<number[]> {
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return data.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount);
}

/** Changes the price of a customer's subscription, as the owner can in the dashboard. */
export async function changePrice(customer: string, price: string, more: Stripe.SubscriptionUpdateParams = {}) {
  const { id, items } = await subscriptionOf(customer);
  await stripe.subscriptions.update(id, { items: [{ id: items.data[0]!.id, price }], ...more });
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

/** The events of a customer's subscriptions, invoices and payments, oldest first. */
export async function eventsOf(customer: string): Promise<Stripe.Event[]> {
  const response = await fetch(`${vars.SANDBOX}/stripe/events?customer=${customer}`);
  const events = await response.json<Stripe.Event[]>();
  return events.filter(({ data }) => (data.object as { customer?: string }).customer === customer);
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

/** The events of a customer that no call of this function has returned before, oldest first. */
export async function newEventsOf(customer: string): Promise<Stripe.Event[]> {
  const events = (await eventsOf(customer)).filter(({ id }) => !delivered.has(id));
  for (const { id } of events) delivered.add(id);
  return events;
}

/** Posts to the Worker, oldest first, the events of a customer that it has not posted before. */
export async function deliver(customer: string): Promise<void> {
  for (const event of await newEventsOf(customer)) await postEvent(event);
}

/** Time passes at Stripe for a user, and every event arrives. */
export async function advance({ customer, phone }: { customer: string; phone: string }, seconds: number) {
  await sandbox.advanceStripe(phone, seconds);
  await deliver(customer);
}
