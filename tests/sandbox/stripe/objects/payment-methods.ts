import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageOf, type PageParams } from '../api/page.ts';
import { attach } from '../billing/attach-method.ts';
import { findTestCard } from '../billing/test-cards.ts';
import { invalid, StripeError } from '../errors.ts';
import { liveCustomer } from './live-customer.ts';
import { newMetadata } from './metadata.ts';
import { newPaymentMethod } from './new-payment-method.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

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

export function retrievePaymentMethod(world: World, call: Call): PaymentMethod {
  return world.paymentMethods.get(idOf(call));
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
