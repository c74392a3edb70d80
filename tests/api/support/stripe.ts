import { Stripe } from 'stripe';
import { call, runCron, type Settings, vars } from './api.ts';
import { database, sandbox } from './sandbox.ts';

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
  const { rows } = await database.execute(sql, [phone]);
  return rows[0]!.stripe_id as string;
}

export async function subscriptionOf(customer: string): Promise<Stripe.Subscription> {
  const { data } = await stripe.subscriptions.list({ customer, status: 'all' });
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

/** The cron job fetches a customer's state, as after an hour without any event. */
export async function fetchByCron(customer: string, cron?: '0 * * * *'): Promise<void> {
  await database.execute('update customers set due_at = 0 where stripe_id = ?', [customer]);
  await runCron(cron);
}

/** The events of a customer's subscriptions, invoices and payments, oldest first. */
export async function eventsOf(customer: string): Promise<Stripe.Event[]> {
  const response = await fetch(`${vars.SANDBOX}/stripe/events?customer=${customer}`);
  const events = await response.json<Stripe.Event[]>();
  return events.filter(({ data }) => (data.object as { customer?: string }).customer === customer);
}

type Details = { secret?: string; at?: number; signature?: string; settings?: Settings };

/** Posts a body to the Worker as Stripe does. */
export async function postEvent(event: unknown, details: Details = {}) {
  const payload = typeof event === 'string' ? event : JSON.stringify(event);
  const { secret = vars.STRIPE_WEBHOOK_SECRET!, at = Math.floor(Date.now() / 1000), settings } = details;
  const signed = { payload, secret, timestamp: at };
  const { signature = await stripe.webhooks.generateTestHeaderStringAsync(signed) } = details;
  const headers = { 'stripe-signature': signature };
  return call('POST', '/api/webhooks/stripe', { headers, text: payload, settings });
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

/** In seconds, as Stripe counts. */
export const hour = 3600;
export const week = 168 * hour;

/** Time passes at Stripe for the customer with a number, and every event arrives. */
export async function advance(phone: string, seconds: number): Promise<void> {
  await sandbox.advanceStripe(phone, seconds);
  await deliver(await customerOf(phone));
}
