import { Stripe } from 'stripe';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { type LocalStripe, startStripe, webhookSecret } from './start-stripe.ts';

export const phone = '+15550100123';
const working = '4242424242424242';

export type Person = Awaited<ReturnType<typeof newPerson>>;

/** A merchant's site with a webhook, and one customer who uses the hosted pages. */
export async function newPerson(options: Parameters<typeof startStripe>[0] = {}) {
  const local = await startStripe(options);
  const { stripe, shop } = local;
  const catalogue = await createCatalogue(stripe);
  await stripe.webhookEndpoints.create({ url: `${shop.url}/hook`, enabled_events: ['*'] });
  const customer = await stripe.customers.create({ metadata: { phone } });
  return { ...local, catalogue, customer: customer.id, ...buttonsOf(local, catalogue, customer.id), ...timeOf(local) };
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
  async function subscribe(tier: keyof Catalogue['prices']): Promise<Stripe.Subscription> {
    const session = await checkout(tier);
    await press(session.url ?? '', { card: working });
    return current();
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
  async function current(): Promise<Stripe.Subscription> {
    const { data } = await stripe.subscriptions.list({ customer, status: 'all', expand: ['data.schedule'] });
    return data[0] as Stripe.Subscription;
  }
  return { press, checkout, subscribe, portal, current };
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
