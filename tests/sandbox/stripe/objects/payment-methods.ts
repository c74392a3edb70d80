import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageOf, type PageParams } from '../api/page.ts';
import { decline, findTestCard, type TestCard } from '../billing/test-cards.ts';
import { declined, invalid, missing } from '../errors.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';
import { liveCustomer } from './customers.ts';
import { type Metadata, mergeMetadata, newMetadata } from './metadata.ts';

export type PaymentMethod = {
  id: string;
  object: 'payment_method';
  billing_details: unknown;
  card: { brand: string; last4: string; exp_month: number; exp_year: number };
  created: number;
  customer: string | null;
  metadata: Metadata;
  type: 'card';
  _: { declines: boolean; refused: boolean };
};

const untouched = { allow_redisplay: 'always', customer_account: null, livemode: false };
const noAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

/** Puts a new card on file, not yet anyone's. */
export function newPaymentMethod(world: World, card: TestCard, metadata: Metadata = {}): PaymentMethod {
  return world.paymentMethods.insert({
    ...untouched,
    id: newId('pm_1'),
    object: 'payment_method',
    billing_details: { address: noAddress, email: null, name: null, phone: null, tax_id: null },
    card: cardOf(world, card),
    created: world.now(),
    customer: null,
    metadata,
    type: 'card',
    _: { declines: card.declines ?? false, refused: card.refused ?? false },
  });
}

function cardOf(world: World, card: TestCard) {
  return {
    brand: card.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'US',
    display_brand: card.brand,
    exp_month: 12,
    exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
    fingerprint: `fp${card.number.slice(-14)}`,
    funding: 'credit',
    generated_from: null,
    last4: card.number.slice(-4),
    networks: { available: [card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

export function createPaymentMethod(world: World, { params }: Call<Stripe.PaymentMethodCreateParams>): PaymentMethod {
  if (params.type !== 'card') throw invalid('Only cards are taken here.', 'type');
  const details = (params.card ?? {}) as { number?: string; token?: string };
  const card = findTestCard(details.number ?? details.token ?? '');
  if (!card) throw declined({ code: 'incorrect_number', message: 'Your card number is incorrect.' }, false);
  return newPaymentMethod(world, card, newMetadata(params.metadata));
}

/** Saves a card for a customer; Stripe's named test cards (`pm_card_visa`) become new ones. */
export function attach(world: World, id: string, customer: string): PaymentMethod {
  const named = id.startsWith('pm_card_') ? findTestCard(id) : undefined;
  const method = named ? newPaymentMethod(world, named) : world.paymentMethods.get(id, 'payment_method');
  if (method.customer === customer) return method;
  if (method.customer) throw invalid('This payment method has already been attached to a customer.', 'payment_method');
  if (method._.refused) throw declined(decline, false);
  const attached = world.paymentMethods.change(
    method.id,
    (method) => void (method.customer = customer),
    'payment_method.attached',
  );
  return attached;
}

export function attachPaymentMethod(world: World, call: Call<{ customer?: string }>): PaymentMethod {
  const customer = liveCustomer(world, call.params.customer ?? '', 'customer');
  return attach(world, idOf(call), customer.id);
}

export function detachPaymentMethod(world: World, call: Call): PaymentMethod {
  const { id, customer } = world.paymentMethods.get(idOf(call));
  if (!customer) throw invalid('The payment method you provided is not attached to a customer.', 'payment_method');
  world.customers.change(customer, ({ invoice_settings: settings }) => {
    if (settings.default_payment_method === id) settings.default_payment_method = null;
  });
  return world.paymentMethods.change(id, (method) => void (method.customer = null), 'payment_method.detached');
}

export function updatePaymentMethod(world: World, call: Call<Stripe.PaymentMethodUpdateParams>): PaymentMethod {
  return world.paymentMethods.change(idOf(call), (method) => {
    method.metadata = mergeMetadata(method.metadata, call.params.metadata);
  });
}

export function retrievePaymentMethod(world: World, call: Call): PaymentMethod {
  const { id = '', customer } = call.ids;
  const method = world.paymentMethods.get(id);
  if (customer !== undefined && method.customer !== customer) throw missing('PaymentMethod', id);
  return method;
}

export function listPaymentMethods(world: World, { params }: Call<PageParams & { customer?: string; type?: string }>) {
  return pageOf(methodsOf(world, params.customer, params.type), params, '/v1/payment_methods');
}

export function listCustomerPaymentMethods(world: World, call: Call<PageParams & { type?: string }>) {
  const { id } = liveCustomer(world, idOf(call));
  return pageOf(methodsOf(world, id, call.params.type), call.params, `/v1/customers/${id}/payment_methods`);
}

function methodsOf(world: World, customer: string | undefined, type = 'card'): PaymentMethod[] {
  if (customer === undefined || type !== 'card') return [];
  return world.paymentMethods.all().filter((method) => method.customer === customer);
}
