import type { Stripe } from 'stripe';
import { invalid, type StripeError } from '../api/errors.ts';
import { newId } from '../table.ts';
import { type Call, given, liveCustomer, newMetadata, type World } from '../world.ts';
import { newSetupIntent } from '../payments/setup-intents.ts';
import { isTaxed } from '../invoices/lines.ts';
import type { CheckoutSession, Customer } from '../objects.ts';
import { day } from '../clock.ts';
import { recurringPrice } from '../catalogue.ts';
import { methodConfiguration } from '../account.ts';

type Params = Stripe.Checkout.SessionCreateParams;

const untouched = {
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  discounts: [],
  shipping_options: [],
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted_page',
};

/** Opens a hosted checkout page for a subscription, or for saving a card. */
export function createCheckoutSession(world: World, { params }: Call<Params>): CheckoutSession {
  const mode = modeOf(params);
  const lineItems = mode === 'subscription' ? readLineItems(world, params) : refuseLineItems(params);
  const customer = customerOf(world, params);
  if (customer) requireTaxLocation(customer, params);
  const id = newId('cs_test_a1', 58);
  return world.checkoutSessions.insert({
    ...untouched,
    ...asked(params),
    ...methodsOf(world, params),
    ...priced(world, lineItems, params),
    id,
    object: 'checkout.session',
    created: world.now(),
    customer: customer?.id ?? null,
    customer_details: customer ? detailsOf(customer) : null,
    expires_at: expiryOf(world, params),
    metadata: newMetadata(params.metadata),
    mode,
    payment_status: mode === 'setup' ? 'no_payment_required' : 'unpaid',
    setup_intent: mode === 'setup' ? setupIntentOf(world, params) : null,
    status: 'open',
    success_url: params.success_url ?? '',
    url: `${world.settings.sandboxUrl}/checkout/${id}`,
    _: { lineItems, subscriptionData: params.subscription_data ?? {}, setupIntentData: params.setup_intent_data ?? {} },
  });
}

function customerOf(world: World, { customer, customer_email: email }: Params) {
  if (customer && email)
    throw invalid('You may only specify one of these parameters: customer, customer_email.', 'customer');
  return customer ? liveCustomer(world, customer, 'customer') : undefined;
}

/** The session's details of the customer. */
export function detailsOf({ address, email, name, phone }: Customer): CheckoutSession['customer_details'] {
  return { address, business_name: null, email, individual_name: null, name, phone, tax_exempt: 'none', tax_ids: [] };
}

function setupIntentOf(world: World, { customer, setup_intent_data: data }: Params): string {
  const metadata = newMetadata(data?.metadata);
  return newSetupIntent(world, { customer: customer ?? null, metadata, description: data?.description ?? null }).id;
}

/** The parameters that the session returns unchanged. */
const returned = [
  ...(['allow_promotion_codes', 'allowed_payment_method_types', 'billing_address_collection', 'cancel_url'] as const),
  ...(['client_reference_id', 'customer_email', 'locale', 'submit_type'] as const),
];

/** What the session returns of its parameters. */
function asked(params: Params) {
  const isSubscription = params.mode === 'subscription';
  const liability = isTaxed(params) ? { type: 'self' as const } : null;
  return {
    ...given(params, ...returned),
    automatic_tax: { enabled: isTaxed(params), liability, provider: null, status: null },
    customer_creation: params.customer ? null : 'always',
    payment_method_collection: isSubscription ? (params.payment_method_collection ?? 'always') : null,
    phone_number_collection: { enabled: params.phone_number_collection?.enabled ?? false },
  };
}

function modeOf(params: Params): 'setup' | 'subscription' {
  const { mode, ui_mode: ui = 'hosted_page', success_url: successUrl } = params;
  if (mode !== 'setup' && mode !== 'subscription')
    throw invalid('The local Stripe sells subscriptions and saves cards.', 'mode');
  if (ui !== 'hosted_page') throw invalid('The local Stripe has hosted pages only.', 'ui_mode');
  if (!successUrl) throw missingParam('success_url');
  if (mode === 'setup' && !params.currency && !params.allowed_payment_method_types) {
    throw invalid(
      '`currency` is required in `setup` mode when `allowed_payment_method_types` is not set.',
      'currency',
      'parameter_missing',
    );
  }
  return mode as 'setup' | 'subscription';
}

function missingParam(name: string): StripeError {
  return invalid(`Missing required param: ${name}.`, name, 'parameter_missing');
}

function readLineItems(
  world: World,
  { line_items: given = [], subscription_data: data }: Params,
): CheckoutSession['_']['lineItems'] {
  if (given.length === 0) throw missingParam('line_items');
  const end = data?.trial_end;
  if (end !== undefined && end < world.now() + 2 * day) {
    throw invalid('The `trial_end` date has to be at least 2 days in the future.', 'subscription_data[trial_end]');
  }
  return given.map(({ price, quantity = 1 }, index) => {
    const found = recurringPrice(world, price ?? '', `line_items[${index}][price]`);
    return { id: newId('li_1'), price: found.id, quantity };
  });
}

function refuseLineItems(params: Params): [] {
  for (const name of ['line_items', 'subscription_data', 'payment_method_collection'] as const) {
    if (params[name] !== undefined) throw invalid(`You can not pass \`${name}\` in \`setup\` mode.`, name);
  }
  return [];
}

function expiryOf(world: World, { expires_at: at }: Params): number {
  if (at === undefined) return world.now() + day;
  if (at < world.now() + 1800 || at > world.now() + day) {
    throw invalid(
      'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
      'expires_at',
    );
  }
  return at;
}

function priced(
  world: World,
  lineItems: CheckoutSession['_']['lineItems'],
  { currency, subscription_data: data = {} }: Params,
) {
  if (lineItems.length === 0) return { amount_subtotal: null, amount_total: null, currency: currency ?? null };
  const prices = lineItems.map(({ price, quantity }) => ({ ...world.prices.get(price), quantity }));
  const total = prices.reduce((sum, price) => sum + price.unit_amount * price.quantity, 0);
  const due = data.trial_end === undefined && data.trial_period_days === undefined ? total : 0;
  return { amount_subtotal: due, amount_total: due, currency: prices[0]?.currency ?? null };
}

/** A card can be saved at once, a bank debit cannot. */
const savable = ['card', 'link'];

/** The payment methods of the page; unless the merchant chooses, all that the account has switched on. */
function methodsOf(world: World, { mode, allowed_payment_method_types: allowed }: Params) {
  const { id, switchedOn } = methodConfiguration(world);
  const available = switchedOn.filter((type) => (mode === 'setup' ? savable.includes(type) : type !== 'sepa_debit'));
  const types: string[] = allowed ? available.filter((type) => allowed.includes(type as 'card')) : available;
  if (types.length === 0) {
    throw invalid('No valid payment method types for this Checkout Session.', 'allowed_payment_method_types');
  }
  const options = { card: { request_three_d_secure: 'automatic' } };
  const debit = { us_bank_account: { verification_method: 'automatic' } };
  return {
    payment_method_configuration_details: { id, parent: null },
    payment_method_options: types.includes('us_bank_account') ? { ...options, ...debit } : options,
    payment_method_types: types,
  };
}

/** Stripe calculates no tax for a customer without an address, unless the page may save the address from its form. */
function requireTaxLocation({ address }: { address: unknown }, params: Params) {
  const { customer_update: update } = params;
  if (!isTaxed(params) || address || update?.address === 'auto' || update?.shipping === 'auto') return;
  throw invalid(
    "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set either `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' to save the address entered in Checkout to the Customer.",
    undefined,
    'customer_tax_location_invalid',
  );
}
