import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { Stripe } from 'stripe';
import { onTestFinished } from 'vitest';
import { listen } from '../../start.ts';
import { openStore, type Store } from '../../store.ts';
import { createStripe } from '../index.ts';

const secretKey = 'sk_test_local';
export const webhookSecret = 'whsec_local';
export const day = 86_400;
export const week = 7 * day;
/** How long a renewal's invoice stays a draft. */
export const draftHour = 3600;

type Received = { body: string; signature: string; event: Stripe.Event };
type LocalStripe = Awaited<ReturnType<typeof startStripe>>;

/** A local Stripe on a free port, the stock SDK as its client, and a merchant's site that receives its events. */
export async function startStripe({ store = openStore(':memory:') }: { store?: Store } = {}) {
  const server = await listen(0);
  const url = `http://127.0.0.1:${server.port}`;
  const shop = await startShop();
  const local = createStripe({ store, sandboxUrl: url, siteUrl: shop.url, secretKey, webhookSecret });
  const listener = getRequestListener(local.app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  const stop = async () => (local.close(), await server.close());
  onTestFinished(async () => {
    await stop();
    await shop.close();
  });
  const host = { host: '127.0.0.1', port: server.port, protocol: 'http' } as const;
  const stripe = new Stripe(secretKey, { ...host, maxNetworkRetries: 0, telemetry: false });
  return { stripe, url, shop, control: controlOf(url), stop };
}

function controlOf(url: string) {
  return async function control(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}/stripe${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as Record<string, unknown>;
  };
}

/** A merchant's site: records the events that it accepts, and responds with `state.status`. */
async function startShop() {
  const received: Received[] = [];
  const state = { status: 200 };
  const server = await listen(0);
  server.serve((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const signature = String(request.headers['stripe-signature']);
    if (state.status === 200) received.push({ body, signature, event: JSON.parse(body) as Stripe.Event });
    response.writeHead(state.status).end();
  }
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.close(), received, state };
}

export const phone = '+15550100123';

export type Person = Awaited<ReturnType<typeof newPerson>>;

/** A merchant's site with a webhook, and one customer who uses the hosted pages. */
export async function newPerson(options?: Parameters<typeof startStripe>[0]) {
  const local = await startStripe(options);
  const { stripe, shop } = local;
  const catalogue = await createCatalogue(stripe);
  await stripe.webhookEndpoints.create({ url: `${shop.url}/hook`, enabled_events: ['*'] });
  const customer = await stripe.customers.create({ metadata: { phone } });
  return {
    ...local,
    catalogue,
    customer: customer.id,
    ...buttonsOf(local, catalogue, customer.id),
    ...timeOf(local),
  };
}

function buttonsOf({ stripe, url, shop }: LocalStripe, { prices, configuration }: Catalogue, customer: string) {
  async function press(page: string, form: Record<string, string> = {}): Promise<Response> {
    return fetch(page, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  }
  async function checkout(tier: keyof Catalogue['prices'], extra: Stripe.Checkout.SessionCreateParams = {}) {
    return stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: prices[tier], quantity: 1 }],
      success_url: `${shop.url}/success?session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: `${shop.url}/canceled`,
      ...extra,
    });
  }
  /** Buys a plan on the checkout page, by default with a card that works. */
  async function subscribe(tier: keyof Catalogue['prices'], form?: Record<string, string>) {
    const session = await checkout(tier);
    await press(session.url ?? '', form);
    return holdingsOf(stripe, customer).current();
  }
  /** Presses a button of the portal, such as `switch`. */
  async function portal(
    action: string,
    form: Record<string, string> = {},
    flow?: Stripe.BillingPortal.SessionCreateParams.FlowData,
  ) {
    const session = await stripe.billingPortal.sessions.create({
      customer,
      configuration,
      return_url: `${shop.url}/account`,
      ...(flow && { flow_data: flow }),
    });
    return press(`${url}/portal/${session.id.replace(/^.*\//, '')}/${action}`, form);
  }
  return { press, checkout, subscribe, portal, ...holdingsOf(stripe, customer) };
}

/** What a customer has at Stripe: the newest subscription, its status, price and invoice, and all invoices. */
function holdingsOf(stripe: Stripe, customer: string) {
  const subscriptions = async () => {
    const { data } = await stripe.subscriptions.list({ customer, status: 'all', expand: ['data.schedule'] });
    return data;
  };
  const current = async () => (await subscriptions())[0]!;
  return {
    subscriptions,
    current,
    status: async () => (await current()).status,
    price: async () => priceOf(await current()),
    invoice: async () => stripe.invoices.retrieve(idOf((await current()).latest_invoice)),
    invoices: async () => (await stripe.invoices.list({ customer, limit: 100 })).data,
    /** Saves a card as the default one. */
    async saveCard(card: string): Promise<string> {
      const { id } = await stripe.paymentMethods.attach(card, { customer });
      await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } });
      return id;
    },
  };
}

function timeOf({ control, shop }: LocalStripe) {
  return {
    advance: async (advanceSeconds: number) => Number((await control('POST', '/clock', { advanceSeconds }))['now']),
    setCard: (declines: boolean) => control('POST', `/customers/${phone}/card`, { declines }),
    receivedTypes: () => shop.received.map(({ event }) => event.type),
    verify: (body: string, signature: string) => Stripe.webhooks.constructEvent(body, signature, webhookSecret),
  };
}

/** The id of a subscription's price. */
export function priceOf(subscription: Stripe.Subscription): string | undefined {
  return subscription.items.data[0]?.price.id;
}

/** The id of a reference, which may be expanded. */
export function idOf(reference: string | { id: string } | null): string {
  return typeof reference === 'string' ? reference : (reference?.id ?? '');
}

const plans = [
  ['Basic', 1199],
  ['Premium', 2999],
  ['Platinum', 7999],
] as const;

type Catalogue = { prices: Record<'basic' | 'premium' | 'platinum', string>; configuration: string };

/** Three weekly plans, and a portal that switches between them. */
async function createCatalogue(stripe: Stripe): Promise<Catalogue> {
  const created: Catalogue['prices'] = { basic: '', premium: '', platinum: '' };
  const products = [];
  for (const [name, amount] of plans) {
    const product = await stripe.products.create({ name });
    const tier = name.toLowerCase() as keyof Catalogue['prices'];
    const recurring = { interval: 'week' } as const;
    const fields = { lookup_key: `${tier}_weekly`, metadata: { tier } };
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: amount,
      recurring,
      ...fields,
    });
    created[tier] = price.id;
    products.push({ product: product.id, prices: [price.id] });
  }
  const { id } = await stripe.billingPortal.configurations.create({ features: featuresWith(products) });
  return { prices: created, configuration: id };
}

function featuresWith(
  products: { product: string; prices: string[] }[],
): Stripe.BillingPortal.ConfigurationCreateParams.Features {
  return {
    customer_update: { enabled: true, allowed_updates: ['address', 'tax_id'] },
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      products,
      proration_behavior: 'always_invoice',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
}

export type Reply = { status: number; headers: Headers; body: any };
type Extra = { key?: string; version?: string; secret?: string };

/** Sends a form to the API as it is, without the SDK's checks and retries. */
export function requestOf({ url }: Pick<LocalStripe, 'url'>) {
  return async function request(method: string, path: string, form = '', extra: Extra = {}): Promise<Reply> {
    const isPost = method === 'POST';
    const query = isPost || form === '' ? '' : `?${form}`;
    const response = await fetch(`${url}${path}${query}`, {
      method,
      headers: {
        authorization: `Bearer ${extra.secret ?? 'sk_test_local'}`,
        ...(extra.key !== undefined && { 'idempotency-key': extra.key }),
        ...(extra.version && { 'stripe-version': extra.version }),
        ...(isPost && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(isPost && { body: form }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}
