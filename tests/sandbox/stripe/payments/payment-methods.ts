import type { Stripe } from 'stripe';
import { type Call, idOf, type World, liveCustomer, newMetadata } from '../world.ts';
import { pageOf, type PageParams, newId } from '../table.ts';
import { invalid, StripeError, declined, missing, notFound, type Decline } from '../api/errors.ts';
import type { PaymentMethod, Metadata } from '../objects.ts';

export function createPaymentMethod(world: World, { params }: Call<Stripe.PaymentMethodCreateParams>): PaymentMethod {
  if (params.type !== 'card') throw invalid('The local Stripe takes cards only.', 'type');
  const details = (params.card ?? {}) as { number?: string; token?: string };
  if (details.number) throw rawNumber();
  const card = findTestCard(details.token ?? '');
  if (!card) throw invalid(`No such token: '${details.token ?? ''}'`, 'card[token]', 'resource_missing');
  return newPaymentMethod(world, card, newMetadata(params.metadata));
}

function rawNumber(): StripeError {
  const message =
    'Sending credit card numbers directly to the Stripe API is generally unsafe. We suggest you use test tokens that map to the test card you are using, see https://stripe.com/docs/testing.';
  return new StripeError(402, { type: 'invalid_request_error', message });
}

export function attachPaymentMethod(world: World, call: Call<{ customer?: string }>): PaymentMethod {
  const { customer } = call.params;
  if (!customer) throw invalid('Must provide customer or customer_account.', undefined, 'parameter_missing');
  return attach(world, idOf(call), liveCustomer(world, customer, 'customer').id);
}

export function detachPaymentMethod(world: World, call: Call): PaymentMethod {
  const { id, customer } = world.paymentMethods.get(idOf(call));
  if (!customer)
    throw invalid('The payment method you provided is not attached to a customer so detachment is impossible.');
  world.customers.change(customer, ({ invoice_settings: settings }) => {
    if (settings.default_payment_method === id) settings.default_payment_method = null;
  });
  return detach(world, id);
}

/** Detaches a payment method from its customer; it cannot be used again. */
export function detach(world: World, id: string): PaymentMethod {
  return world.paymentMethods.change(
    id,
    (method) => {
      method.customer = null;
      method._.isUsed = true;
    },
    'payment_method.detached',
  );
}

type ListParams = PageParams & { customer?: string; type?: string };

/** Recorded: without a customer the list is empty; an unknown or deleted one is refused. */
export function listPaymentMethods(world: World, { params }: Call<ListParams>) {
  const customer = params.customer && liveCustomer(world, params.customer, 'customer').id;
  return pageOf(methodsOf(world, customer, params.type), params, '/v1/payment_methods', world.paymentMethods);
}

export function listCustomerPaymentMethods(world: World, call: Call<PageParams & { type?: string }>) {
  const { id } = liveCustomer(world, idOf(call));
  const url = `/v1/customers/${id}/payment_methods`;
  return pageOf(methodsOf(world, id, call.params.type), call.params, url, world.paymentMethods);
}

function methodsOf(world: World, customer: string | undefined, type?: string): PaymentMethod[] {
  if (!customer) return [];
  return world.paymentMethods
    .all()
    .filter((method) => method.customer === customer && (type === undefined || method.type === type));
}

/** Throws unless a payment method belongs to the customer. */
export function ownMethod(world: World, customer: string, id: string, param: string): PaymentMethod {
  const method = world.paymentMethods.get(id, param);
  if (method.customer === customer) return method;
  const message = `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`;
  throw invalid(message, param, 'resource_missing');
}

const noAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

/** A new card without a customer. */
export function newPaymentMethod(world: World, card: TestCard, metadata: Metadata = {}): PaymentMethod {
  return world.paymentMethods.insert({
    id: newId('pm_1'),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: noAddress, email: null, name: null, phone: null, tax_id: null },
    card: cardOf(world, card),
    created: world.now(),
    metadata,
    type: 'card',
    _: { number: card.number, declines: null, isSetUp: false, isUsed: false },
  });
}

function cardOf(world: World, card: TestCard) {
  return {
    brand: card.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'unchecked' },
    country: 'US',
    display_brand: card.brand,
    exp_month: 12,
    exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
    fingerprint: `fp${card.number.slice(-14)}`,
    funding: card.funding ?? 'credit',
    generated_from: null,
    last4: card.number.slice(-4),
    networks: { available: [card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

/** The payment method of an id; a test card's name such as `pm_card_visa` creates one. `param` as in `Table.get`. */
export function methodNamed(world: World, id: string, param?: string): PaymentMethod {
  const named = id.startsWith('pm_card_') ? findTestCard(id) : undefined;
  if (named) return newPaymentMethod(world, named);
  const found = world.paymentMethods.find(id);
  if (found) return found;
  throw param === undefined ? notFound('PaymentMethod', id, 'payment_method') : missing('PaymentMethod', id, param);
}

/** Saves a payment method for a customer. Throws 402 when its bank refuses it. */
export function attach(world: World, id: string, customer: string, param?: string): PaymentMethod {
  const method = methodNamed(world, id, param);
  if (method.customer === customer) return method;
  if (method.customer) throw invalid('The payment method you provided has already been attached to a customer.');
  if (method._.isUsed) {
    throw invalid(
      'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
    );
  }
  const refused = findTestCard(method._.number)?.refused;
  if (refused) throw declined(refused, false);
  return world.paymentMethods.change(
    method.id,
    (method) => void (method.customer = customer),
    'payment_method.attached',
  );
}

/** Throws where an intent would use another customer's payment method. */
export function refuseForeignMethod(
  method: PaymentMethod,
  customer: string | null,
  intent: 'PaymentIntent' | 'SetupIntent',
): void {
  if (!method.customer || method.customer === customer) return;
  const message = customer
    ? `The PaymentMethod ${method.id} does not belong to the Customer you supplied ${customer}. Please use this PaymentMethod with the Customer that it belongs to instead.`
    : `The payment method supplied (${method.id}) belongs to the Customer ${method.customer}. Please include the Customer in the \`customer\` parameter on the ${intent}.`;
  throw invalid(message, 'payment_method');
}

export type TestCard = {
  number: string;
  brand: 'visa' | 'mastercard' | 'amex';
  funding?: 'debit' | 'prepaid';
  /** Its description on the hosted pages; cards without one are only for the API. */
  note?: string;
  /** The bank refuses to save it. */
  refused?: Decline;
  /** Saved, then declined at every charge. */
  declines?: true;
  /** Payments need authentication: every time, or until one payment has set the card up. */
  authentication?: 'once' | 'always';
  disputed?: { reason: 'fraudulent' | 'product_not_received'; network_reason_code: string };
};

export const decline: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
};

const refusals = {
  insufficient: {
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    message: 'Your card has insufficient funds.',
  },
  lost: { code: 'card_declined', decline_code: 'lost_card', message: 'Your card was declined.' },
  stolen: { code: 'card_declined', decline_code: 'stolen_card', message: 'Your card was declined.' },
  expired: { code: 'expired_card', param: 'exp_month', message: 'Your card has expired.' },
  cvc: { code: 'incorrect_cvc', param: 'cvc', message: "Your card's security code is incorrect." },
  processing: {
    code: 'processing_error',
    message: 'An error occurred while processing your card. Try again in a little bit.',
  },
} satisfies Record<string, Decline>;

/** Stripe's test numbers. The hosted pages preselect the first one. */
export const testCards: readonly [TestCard, ...TestCard[]] = [
  { number: '4242424242424242', brand: 'visa', note: 'Visa, works' },
  { number: '5555555555554444', brand: 'mastercard', note: 'Mastercard, works' },
  { number: '4000002500003155', brand: 'visa', note: 'Visa, asks for authentication once', authentication: 'once' },
  {
    number: '4000002760003184',
    brand: 'visa',
    note: 'Visa, asks for authentication at every payment',
    authentication: 'always',
  },
  { number: '4000000000000341', brand: 'visa', note: 'Visa, can be saved but declines every charge', declines: true },
  { number: '4000000000000002', brand: 'visa', note: 'Visa, declined at once', refused: decline },
  { number: '378282246310005', brand: 'amex' },
  { number: '4000056655665556', brand: 'visa', funding: 'debit' },
  { number: '5200828282828210', brand: 'mastercard', funding: 'debit' },
  { number: '4000000000009995', brand: 'visa', refused: refusals.insufficient },
  { number: '4000000000009987', brand: 'visa', refused: refusals.lost },
  { number: '4000000000009979', brand: 'visa', refused: refusals.stolen },
  { number: '4000000000000069', brand: 'visa', refused: refusals.expired },
  { number: '4000000000000127', brand: 'visa', refused: refusals.cvc },
  { number: '4000000000000119', brand: 'visa', refused: refusals.processing },
  { number: '4000000000003220', brand: 'visa', authentication: 'always' },
  { number: '4000000000000259', brand: 'visa', disputed: { reason: 'fraudulent', network_reason_code: '10.4' } },
  {
    number: '4000000000002685',
    brand: 'visa',
    disputed: { reason: 'product_not_received', network_reason_code: '13.1' },
  },
];

/** Names of Stripe's test objects, without `pm_card_` or `tok_`. */
const byName: Record<string, string> = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  amex: '378282246310005',
  visa_debit: '4000056655665556',
  mastercard_debit: '5200828282828210',
  authenticationRequiredOnSetup: '4000002500003155',
  authenticationRequired: '4000002760003184',
  threeDSecure2Required: '4000000000003220',
  threeDSecureRequired: '4000000000003220',
  chargeCustomerFail: '4000000000000341',
  chargeDeclined: '4000000000000002',
  chargeDeclinedInsufficientFunds: '4000000000009995',
  chargeDeclinedLostCard: '4000000000009987',
  chargeDeclinedStolenCard: '4000000000009979',
  chargeDeclinedExpiredCard: '4000000000000069',
  chargeDeclinedIncorrectCvc: '4000000000000127',
  chargeDeclinedProcessingError: '4000000000000119',
  createDispute: '4000000000000259',
  createDisputeProductNotReceived: '4000000000002685',
};

/** A card by its number, or by the name that Stripe gives its test objects. */
export function findTestCard(given = ''): TestCard | undefined {
  const name = given.replace(/^(pm_card|tok)_/, '');
  const number = byName[name] ?? byName[name.replace(/^visa_/, '')] ?? given.replaceAll(/\D/g, '');
  return testCards.find((card) => card.number === number);
}
