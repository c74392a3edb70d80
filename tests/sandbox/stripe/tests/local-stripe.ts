import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { Stripe } from 'stripe';
import { onTestFinished } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../listen.ts';
import { startStripe as start } from '../start-stripe.ts';

export const day = 86_400;
export const week = 7 * day;
/** How long a renewal's invoice stays a draft. */
export const draftHour = 3600;

const secretKey = 'sk_test_local';
export const webhookSecret = `whsec_${Buffer.from('stripe signs with this').toString('base64')}`;

type Received = {
  body: string;
  signature: string;
  event: Stripe.Event;
};
type LocalStripe = Awaited<ReturnType<typeof startStripe>>;

/** A local Stripe, the stock SDK as its client, and a merchant's site that receives its events. */
async function startStripe() {
  const shop = await startShop();
  const folder = mkdtempSync(join(tmpdir(), 'local-stripe-'));
  const open = () =>
    start({
      port: 0,
      file: join(folder, 'stripe.db'),
      siteUrl: shop.url,
      secretKey,
      webhookSecret,
    });
  let running = await open();
  onTestFinished(async () => {
    await running.close();
    await shop.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const sandbox = {
    get url() {
      return running.url;
    },
    call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      call(running.url, method, path, body, headers),
    async restart(): Promise<void> {
      await running.close();
      running = await open();
    },
  };
  const control = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> => (await sandbox.call(method, `/stripe${path}`, body)).json;
  return { sandbox, stripe: clientOf(sandbox), shop, control };
}

/** Calls the local Stripe, and returns status, headers and JSON. */
async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    headers,
    ...(sent !== undefined && { body: sent }),
  });
  const json: any = await response.json();
  return {
    status: response.status,
    headers: response.headers,
    json,
  };
}

/** The stock SDK. */
export function clientOf({ url }: { url: string }): Stripe {
  const host = {
    host: '127.0.0.1',
    port: new URL(url).port,
    protocol: 'http',
  } as const;
  return new Stripe(secretKey, {
    ...host,
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

/** A merchant's site: records what it accepts, and the events that came before it had taken the same customer's last. */
async function startShop() {
  const received: Received[] = [];
  const state = { status: 200, overlaps: 0 };
  const busy = new Set<unknown>();
  const server = await listen(0);
  server.serve((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const signature = String(request.headers['stripe-signature']);
    const event = JSON.parse(body) as Stripe.Event;
    const { customer } = event.data.object as { customer?: string };
    if (customer && busy.has(customer)) state.overlaps += 1;
    busy.add(customer);
    await setImmediate();
    busy.delete(customer);
    if (state.status === 200)
      received.push({
        body,
        signature,
        event,
      });
    response.writeHead(state.status).end();
  }
  return {
    url: `http://127.0.0.1:${server.port}`,
    close: () => server.close(),
    received,
    state,
  };
}

export const phone = '+15550100123';

export type Person = Awaited<ReturnType<typeof newPerson>>;

/** A merchant's site with a webhook, and one customer who uses the hosted pages. */
export async function newPerson() {
  const local = await startStripe();
  const { stripe, shop, control } = local;
  const catalogue = await createCatalogue(stripe);
  await stripe.webhookEndpoints.create({
    url: `${shop.url}/hook`,
    enabled_events: ['*'],
  });
  const { id: customer } = await stripe.customers.create({ metadata: { phone } });
  return {
    ...local,
    catalogue,
    customer,
    ...buttonsOf(local, catalogue, customer),
    ...holdingsOf(stripe, customer),
    advance: async (advanceSeconds: number) =>
      Number((await control('POST', '/clock', { advanceSeconds }))['now']),
    setCard: (declines: boolean) => control('POST', `/customers/${phone}/card`, { declines }),
    receivedTypes: () => shop.received.map(({ event }) => event.type),
  };
}

type Form = Record<string, string>;

function buttonsOf(
  { stripe, shop }: LocalStripe,
  { prices, configuration }: Catalogue,
  customer: string,
) {
  async function press(page: string, form: Form = {}): Promise<Response> {
    return fetch(page, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
  }
  async function checkout(tier: Tier) {
    return stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: prices[tier], quantity: 1 }],
      success_url: `${shop.url}/success?session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: `${shop.url}/canceled`,
    });
  }
  /** Buys a plan on the checkout page, by default with a card that works. */
  async function subscribe(tier: Tier, form?: Form): Promise<Stripe.Subscription> {
    await press((await checkout(tier)).url ?? '', form);
    return holdingsOf(stripe, customer).current();
  }
  /** Presses a button of the portal, such as `switch`. */
  async function portal(action: string, form?: Form): Promise<Response> {
    const { url } = await stripe.billingPortal.sessions.create({
      customer,
      configuration,
    });
    return press(`${url}/${action}`, form);
  }
  return { press, checkout, subscribe, portal };
}

/** What a customer has at Stripe: the newest subscription, its status, price and invoice, and all invoices. */
function holdingsOf(stripe: Stripe, customer: string) {
  const subscriptions = async () =>
    (await stripe.subscriptions.list({ customer, status: 'all' })).data;
  const current = async () => (await subscriptions())[0]!;
  return {
    subscriptions,
    current,
    status: async () => (await current()).status,
    price: async () => (await current()).items.data[0]!.price.id,
    invoice: async () => stripe.invoices.retrieve((await current()).latest_invoice as string),
    invoices: async () => (await stripe.invoices.list({ customer })).data,
    /** Saves a card as the default one. */
    async saveCard(card: string): Promise<string> {
      const { id } = await stripe.paymentMethods.attach(card, { customer });
      await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } });
      return id;
    },
  };
}

const plans = { basic: 1199, premium: 2999, platinum: 7999 };
type Tier = keyof typeof plans;
type Catalogue = { prices: Record<Tier, string>; configuration: string };

/** Three weekly plans, and a portal that switches between them. */
async function createCatalogue(stripe: Stripe): Promise<Catalogue> {
  const prices = { basic: '', premium: '', platinum: '' };
  const products = [];
  for (const tier of Object.keys(plans) as Tier[]) {
    const { id: product } = await stripe.products.create({ name: tier });
    const terms = {
      currency: 'usd',
      unit_amount: plans[tier],
      recurring: { interval: 'week' },
    } as const;
    prices[tier] = (
      await stripe.prices.create({
        product,
        lookup_key: `${tier}_weekly`,
        ...terms,
      })
    ).id;
    products.push({ product, prices: [prices[tier]] });
  }
  const features: Stripe.BillingPortal.ConfigurationCreateParams.Features = {
    payment_method_update: { enabled: true },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      products,
      proration_behavior: 'always_invoice',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
  const { id } = await stripe.billingPortal.configurations.create({ features });
  return { prices, configuration: id };
}

/** Sends a form to the API as it is, without the SDK's checks and retries. */
export function requestOf({ sandbox: { call } }: Pick<LocalStripe, 'sandbox'>) {
  return async function request(
    method: string,
    path: string,
    form = '',
    headers: Record<string, string> = {},
  ) {
    const own = { authorization: `Bearer ${secretKey}`, ...headers };
    return method === 'POST' || method === 'PUT'
      ? call(method, path, form, own)
      : call(method, `${path}?${form}`, undefined, own);
  };
}
