import type { Stripe } from 'stripe';
import { expect } from 'vitest';
import { call, vars } from './api.ts';
import { stripe } from './stripe.ts';

/** Every event of a customer's subscriptions, invoices and payments since an instant (unix seconds by Stripe's clock), oldest first. */
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

/** Posts to the Worker every event of a customer since an instant (unix seconds by Stripe's clock). */
export async function deliver(customer: string, since: number): Promise<void> {
  for (const event of await eventsOf(customer, since)) await postEvent(event);
}
