import type { Stripe } from 'stripe';
import { call, vars } from './api.ts';
import { stripe } from './stripe.ts';

/** Every event of a customer since an instant (unix seconds by Stripe's clock), oldest first. */
export async function eventsOf(customer: string, since = 0): Promise<Stripe.Event[]> {
  const list = stripe.events.list({ limit: 100, created: { gte: since } });
  const events = await list.autoPagingToArray({ limit: 5000 });
  const about = (event: Stripe.Event) =>
    (event.data.object as { customer?: string; id?: string }).customer === customer;
  return events.filter(about).toReversed();
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

/** Posts to the Worker every event of a customer since an instant (unix seconds by Stripe's clock). */
export async function deliver(customer: string, since: number): Promise<void> {
  for (const event of await eventsOf(customer, since)) await postEvent(event);
}
