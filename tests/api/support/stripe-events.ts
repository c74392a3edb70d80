import type { Stripe } from 'stripe';
import { call, runCron, type Settings, vars } from './api.ts';
import { database, sandbox } from './sandbox.ts';
import { customerOf, stripe, subscriptionOf } from './stripe.ts';

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

type Details = {
  secret?: string;
  at?: number;
  signature?: string;
  settings?: Settings;
};

/** Posts a body to the Worker as Stripe does. */
export async function postEvent(event: unknown, details: Details = {}) {
  const payload = typeof event === 'string' ? event : JSON.stringify(event);
  const {
    secret = vars.STRIPE_WEBHOOK_SECRET!,
    at = Math.floor(Date.now() / 1000),
    settings,
  } = details;
  const signed = { payload, secret, timestamp: at };
  const { signature = await stripe.webhooks.generateTestHeaderStringAsync(signed) } = details;
  const headers = { 'stripe-signature': signature };
  return call('POST', '/api/webhooks/stripe', {
    headers,
    text: payload,
    settings,
  });
}

const delivered = new Set<string>();

/** The events of a customer that Stripe sends and no call of this function has returned before, oldest first. */
export async function newEventsOf(customer: string): Promise<Stripe.Event[]> {
  const events = (await eventsOf(customer)).filter(
    ({ id, pending_webhooks: endpoints }) => endpoints > 0 && !delivered.has(id),
  );
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

/** The end of the week that runs at Stripe. */
export async function periodEnd(customer: string): Promise<string> {
  const { items } = await subscriptionOf(customer);
  return new Date(items.data[0]!.current_period_end * 1000).toISOString();
}
