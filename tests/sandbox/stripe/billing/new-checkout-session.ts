import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { liveCustomer } from '../objects/live-customer.ts';
import { newMetadata } from '../objects/metadata.ts';
import { newSetupIntent } from '../objects/setup-intents.ts';
import { methodsOf, requireTaxLocation } from './checkout-methods.ts';
import { isTaxed } from './is-taxed.ts';
import { expiryOf, modeOf, priced, readLineItems, refuseLineItems } from './checkout-order.ts';
import type { CheckoutSession } from '../types/checkout-sessions.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.Checkout.SessionCreateParams;

const untouched = {
  adaptive_pricing: null,
  after_expiration: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer_account: null,
  discounts: [],
  integration_identifier: null,
  invoice_creation: null,
  livemode: false,
  managed_payments: null,
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  permissions: null,
  recovered_from: null,
  saved_payment_method_options: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted_page',
  wallet_options: null,
};

/** Opens a hosted checkout page for a subscription, or for saving a card. */
export function newCheckoutSession(world: World, params: Params): CheckoutSession {
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
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    created: world.now(),
    customer: customer?.id ?? null,
    customer_details: customer ? detailsOf(customer) : null,
    customer_email: params.customer_email ?? null,
    expires_at: expiryOf(world, params),
    invoice: null,
    metadata: newMetadata(params.metadata),
    mode,
    payment_status: mode === 'setup' ? 'no_payment_required' : 'unpaid',
    setup_intent: mode === 'setup' ? setupIntentOf(world, params) : null,
    status: 'open',
    subscription: null,
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
export function detailsOf({
  address,
  email,
  name,
  phone,
}: {
  address: unknown;
  email: string | null;
  name: string | null;
  phone: string | null;
}) {
  const unknown = { business_name: null, individual_name: null, tax_exempt: 'none', tax_ids: [] };
  return { address, email, name, phone, ...unknown };
}

function setupIntentOf(world: World, { customer, setup_intent_data: data }: Params): string {
  const metadata = newMetadata(data?.metadata);
  return newSetupIntent(world, { customer: customer ?? null, metadata, description: data?.description ?? null }).id;
}

/** The parameters that the session returns unchanged. */
function asked(params: Params) {
  const isSubscription = params.mode === 'subscription';
  return {
    allow_promotion_codes: params.allow_promotion_codes ?? null,
    allowed_payment_method_types: params.allowed_payment_method_types ?? null,
    automatic_tax: {
      enabled: isTaxed(params),
      liability: isTaxed(params) ? { type: 'self' } : null,
      provider: null,
      status: null,
    },
    billing_address_collection: params.billing_address_collection ?? null,
    customer_creation: params.customer ? null : 'always',
    locale: params.locale ?? null,
    payment_method_collection: isSubscription ? (params.payment_method_collection ?? 'always') : null,
    phone_number_collection: { enabled: params.phone_number_collection?.enabled ?? false },
    submit_type: params.submit_type ?? null,
  };
}
