import { Stripe } from 'stripe';
import { call, vars } from './api.ts';
import { newPerson, type Person } from './person.ts';
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

export type Tier = 'basic' | 'premium' | 'platinum';
/** `since`: the creation of the user, in unix seconds by Stripe's clock. */
export type Subscriber = Person & { customer: string; since: number };

/** All tests share Stripe's clock: a remaining subscription is renewed in each test that advances it by weeks. */
export async function endSubscriptions(): Promise<void> {
  for await (const { id } of stripe.subscriptions.list({ limit: 100 })) await stripe.subscriptions.cancel(id);
}

/** Requests the page to buy a plan. */
export const buy = (token: string, tier?: string) =>
  call('POST', '/api/billing/create-subscription-update-session', { token, ...(tier && { body: { tier } }) });

type CheckoutForm = { card?: string; authentication?: 'complete' | 'fail' };

/** Completes a hosted checkout, by default with a working card; returns the session's id. */
export async function complete(portalUrl: string, form: CheckoutForm = {}): Promise<string> {
  const body = new URLSearchParams(form);
  const response = await fetch(portalUrl, { method: 'POST', body, redirect: 'manual' });
  const location = response.headers.get('location');
  if (!location) throw new Error(`The checkout answered ${response.status}`);
  return new URL(location).searchParams.get('session_id')!;
}

export const verify = (token: string, sessionId: string) =>
  call('POST', '/api/billing/verify-and-update-checkout-session', { token, body: { sessionId } });

/** A user who has bought a plan and returned to the site. */
export async function newSubscriber(tier: Tier): Promise<Subscriber> {
  const { now: since } = await sandbox.stripeClock();
  const person = await newPerson();
  const { body } = await buy(person.token, tier);
  await verify(person.token, await complete(body.portalUrl));
  return { ...person, since, customer: await customerOf(person.phone) };
}

export async function customerOf(phone: string): Promise<string> {
  const sql = 'select c.stripe_id from customers c join users u on u.id = c.user_id where u.phone = ?';
  const { rows } = await database.execute({ sql, args: [phone] });
  return rows[0]!.stripe_id as string;
}

export async function subscriptionOf(customer: string): Promise<Stripe.Subscription> {
  const { data } = await stripe.subscriptions.list({ customer, status: 'all' });
  return data[0]!;
}

export async function latestInvoiceOf(customer: string): Promise<string> {
  const { latest_invoice: latest } = await subscriptionOf(customer);
  return typeof latest === 'string' ? latest : latest!.id;
}

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

/** Presses a button of the portal. */
export async function inPortal(
  portalUrl: string,
  action: string,
  form: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${portalUrl}/${action}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
}

/** Posts to the Worker every event of a customer since an instant (unix seconds by Stripe's clock). */
export async function deliver(customer: string, since: number): Promise<void> {
  for (const event of await eventsOf(customer, since)) await postEvent(event);
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

export const profileOf = async (token: string) => (await call('GET', '/api/user/me', { token })).body.profile;
