import type { Stripe } from 'stripe';
import { Hono } from 'hono';
import { html } from 'hono/html';
import { methodConfiguration, requireTax } from '../account.ts';
import { invalid, StripeError } from '../api/errors.ts';
import { recurringPrice } from '../catalogue.ts';
import { formatMoney } from '../currencies.ts';
import { day } from '../clock.ts';
import type { CheckoutSession, Customer } from '../objects.ts';
import { attach, newPaymentMethod } from '../payments/payment-methods.ts';
import { newSetupIntent, type Payment, setUpCard, succeed } from '../payments/intents.ts';
import { createSubscription } from '../subscriptions/periods.ts';
import { newId } from '../table.ts';
import {
  type Call,
  given,
  idOf,
  liveCustomer,
  newMetadata,
  type World,
  type Atomically,
} from '../world.ts';
import { productName } from '../invoices/lines.ts';
import { cardChoice, closedPage, type Html, layout, paymentBy, problem, submit } from './layout.ts';

type Params = Stripe.Checkout.SessionCreateParams;

/** Opens a hosted checkout page for a subscription, or for saving a card. */
export function createCheckoutSession(world: World, { params }: Call<Params>): CheckoutSession {
  const customer = liveCustomer(world, params.customer ?? '', 'customer');
  requireTaxLocation(customer, params);
  if (params.automatic_tax?.enabled) requireTax(world, pricesOf(world, params));
  const id = newId('cs_test_a1', 58);
  return world.checkoutSessions.insert({
    ...given(params, 'billing_address_collection', 'cancel_url', 'client_reference_id', 'locale'),
    ...methodsOf(world, params),
    ...(params.mode === 'setup' ? setupOf(world, customer, params) : purchaseOf(world, params)),
    id,
    object: 'checkout.session',
    automatic_tax: {
      enabled: params.automatic_tax?.enabled === true,
      liability: params.automatic_tax?.enabled ? { type: 'self' } : null,
      provider: null,
      status: null,
    },
    created: world.now(),
    customer: customer.id,
    customer_details: detailsOf(customer),
    expires_at: world.now() + day,
    metadata: newMetadata(params.metadata),
    success_url: params.success_url ?? '',
    url: `${world.settings.sandboxUrl}/checkout/${id}`,
  });
}

function detailsOf({ address, email, name, phone }: Customer): CheckoutSession['customer_details'] {
  return {
    address,
    business_name: null,
    email,
    individual_name: null,
    name,
    phone,
    tax_exempt: 'none',
    tax_ids: [],
  };
}

function setupOf(world: World, { id: customer }: Customer, params: Params) {
  const { currency, allowed_payment_method_types: allowed, setup_intent_data: data } = params;
  if (!currency && !allowed) {
    throw invalid(
      '`currency` is required in `setup` mode when `allowed_payment_method_types` is not set.',
      'currency',
      'parameter_missing',
    );
  }
  for (const name of ['line_items', 'subscription_data'] as const) {
    if (params[name] !== undefined)
      throw invalid(`You can not pass \`${name}\` in \`setup\` mode.`, name);
  }
  const intent = newSetupIntent(world, {
    customer,
    metadata: newMetadata(data?.metadata),
  });
  return {
    mode: 'setup',
    currency: currency ?? null,
    payment_status: 'no_payment_required',
    setup_intent: intent.id,
    _: { items: [], metadata: {} },
  };
}

const pricesOf = (world: World, { line_items: items = [] }: Params) =>
  items.flatMap(({ price }) => world.prices.find(price ?? '') ?? []);

function purchaseOf(world: World, { line_items: given = [], subscription_data: data }: Params) {
  if (given.length === 0)
    throw invalid('Missing required param: line_items.', 'line_items', 'parameter_missing');
  const items = given.map(({ price, quantity = 1 }, index) => ({
    price: recurringPrice(world, price ?? '', `line_items[${index}][price]`),
    quantity,
  }));
  const total = items.reduce((sum, { price, quantity }) => sum + price.unit_amount * quantity, 0);
  return {
    mode: 'subscription',
    amount_subtotal: total,
    amount_total: total,
    currency: items[0]?.price.currency ?? null,
    payment_method_collection: 'always',
    payment_status: 'unpaid',
    _: {
      items: items.map(({ price, quantity }) => ({
        price: price.id,
        quantity,
      })),
      metadata: newMetadata(data?.metadata),
    },
  };
}

/** The payment methods of the page; unless the merchant chooses, all that the account has switched on. */
function methodsOf(world: World, { mode, allowed_payment_method_types: allowed }: Params) {
  const { id, switchedOn } = methodConfiguration(world);
  // A card can be saved at once, a bank debit cannot.
  const available = switchedOn.filter((type) => mode !== 'setup' || type !== 'us_bank_account');
  const types = allowed ? available.filter((type) => allowed.includes(type)) : available;
  if (types.length === 0)
    throw invalid(
      'No valid payment method types for this Checkout Session.',
      'allowed_payment_method_types',
    );
  return {
    payment_method_configuration_details: { id, parent: null },
    payment_method_types: types,
  };
}

/** Stripe calculates no tax for a customer without an address, unless the page may save the address from its form. */
function requireTaxLocation(
  { address }: Customer,
  { automatic_tax: tax, customer_update: update }: Params,
): void {
  if (!tax?.enabled || address || update?.address === 'auto') return;
  throw invalid(
    "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set either `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' to save the address entered in Checkout to the Customer.",
    undefined,
    'customer_tax_location_invalid',
  );
}

export const sessionDueAt = ({ status, expires_at: at }: CheckoutSession) =>
  status === 'open' ? at : null;

export function expireCheckoutSession(world: World, call: Call): CheckoutSession {
  const { id, status } = world.checkoutSessions.get(idOf(call));
  if (status === 'open') return expireSession(world, id);
  throw invalid(
    `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${status}\`.`,
  );
}

export function expireSession(world: World, id: string): CheckoutSession {
  return world.checkoutSessions.change(
    id,
    { status: 'expired', url: null },
    'checkout.session.expired',
  );
}

/** Completes a hosted checkout once. Throws and changes nothing if the card is declined or needs authentication. */
function completeCheckout(world: World, id: string, payment: Payment): CheckoutSession {
  const session = world.checkoutSessions.get(id);
  const { customer, mode, status } = session;
  if (status === 'complete') return session;
  if (status !== 'open')
    throw new StripeError(410, {
      type: 'invalid_request_error',
      message: `This Checkout Session is ${status}.`,
    });
  const { id: buyer } = liveCustomer(world, customer ?? '', 'customer');
  if (mode === 'setup')
    succeed(world, session.setup_intent ?? '', setUpCard(world, buyer, payment));
  const outcome = mode === 'setup' ? {} : subscribe(world, buyer, session, payment);
  const completed = {
    ...outcome,
    status: 'complete',
    url: null,
  } as const;
  return world.checkoutSessions.change(id, completed, 'checkout.session.completed');
}

function subscribe(
  world: World,
  customer: string,
  { _: ordered }: CheckoutSession,
  payment: Payment,
) {
  const { card, isAuthenticated } = payment;
  const order: Stripe.SubscriptionCreateParams = {
    customer,
    default_payment_method: attach(world, newPaymentMethod(world, card).id, customer).id,
    payment_behavior: 'error_if_incomplete',
    ...ordered,
  };
  const { id, latest_invoice: invoice } = createSubscription(world, order, { isAuthenticated });
  return {
    invoice,
    payment_status: 'paid',
    subscription: id,
  } as const;
}

/** GET shows a checkout and POST completes it; a second POST only redirects. */
export function checkoutPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/checkout/:id', (c) =>
    c.html(checkoutPage(world, world.checkoutSessions.get(c.req.param('id')))),
  );
  app.post('/checkout/:id', (c) => {
    const { id, customer } = world.checkoutSessions.get(c.req.param('id'));
    return submit(c, {
      work(form) {
        return successUrl(
          atomically(customer ?? '', () => completeCheckout(world, id, paymentBy(form))),
        );
      },
      page: (message) => checkoutPage(world, world.checkoutSessions.get(id), message),
    });
  });
  app.get('/checkout/:id/back', (c) => c.redirect(`/checkout/${c.req.param('id')}`, 303));
  app.post('/checkout/:id/back', (c) => {
    const { cancel_url: url, id } = world.checkoutSessions.get(c.req.param('id'));
    return c.redirect(url ?? `/checkout/${id}`, 303);
  });
  return app;
}

const successUrl = ({ id, success_url: url }: CheckoutSession): string =>
  url.replaceAll('{CHECKOUT_SESSION_ID}', id);

function checkoutPage(world: World, session: CheckoutSession, message?: string): Html {
  if (session.status === 'expired') {
    const text = 'This page has timed out and nothing was charged. Go back to start again.';
    return closedPage({
      title: 'This checkout has expired',
      text,
      back: session.cancel_url,
    });
  }
  if (session.status === 'complete') {
    const text = 'Everything is in place. There is nothing left to do here.';
    return closedPage({
      title: 'You are all done here',
      text,
      back: successUrl(session),
    });
  }
  const { locale } = session;
  const summary =
    session.mode === 'setup' ? setupSummary(world, session) : purchaseSummary(world, session);
  return layout(
    { title: 'Checkout', locale },
    html`<div class="columns">
      <section class="stack">${summary}</section>
      <section class="card">
        <form
          method="post"
          class="stack"
        >
          ${problem(message)} ${cardChoice()}
          <button class="primary">Subscribe</button>
          ${session.cancel_url ? html`<button formaction="/checkout/${session.id}/back">Back</button>` : ''}
        </form>
      </section>
    </div>`,
  );
}

/** The only words in the language of the session: programs find buttons by their English names. */
const subscribeTo: Record<string, string> = {
  es: 'Suscríbete a',
  pt: 'Assine o',
};

function purchaseSummary(world: World, session: CheckoutSession): Html {
  const { amount_total: total, currency, locale } = session;
  const prices = session._.items.map(({ price }) => world.prices.get(price));
  return html`<p
      class="soft"
      lang="${locale ?? 'en'}"
    >
      ${subscribeTo[locale?.slice(0, 2) ?? ''] ?? 'Subscribe to'}
    </p>
    <h1>${prices.map((price) => productName(world, price)).join(', ')}</h1>
    <p class="price">
      ${formatMoney(total ?? 0, currency ?? 'usd')}
      <small>/ ${prices[0]?.recurring.interval}</small>
    </p>`;
}

/** A card is saved for a plan that begins later; the metadata of session and prices names the plan. */
function setupSummary(world: World, { metadata }: CheckoutSession): Html {
  const price = world.prices
    .all()
    .find((each) => each.active && each.metadata.tier === metadata?.tier);
  return html`<p class="soft">Nothing is charged today</p>
    <h1>${price ? world.products.get(price.product).name : 'Save a card'}</h1>
    ${price ? html`<p class="price">${formatMoney(price.unit_amount, price.currency)} <small>/ week</small></p>` : ''}
    <p class="soft">The card is used for what you choose to pay for later.</p>`;
}
