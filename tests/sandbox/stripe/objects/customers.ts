import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { attach } from '../billing/attach-method.ts';
import { endSubscription } from '../billing/end-subscription.ts';
import { newId } from '../ids.ts';
import { addressOf, requireEmail } from './contact-details.ts';
import { mergeMetadata, newMetadata } from './metadata.ts';
import { detach, ownMethod } from './payment-methods.ts';
import { indexAfter } from './search-index.ts';
import { isLive } from './subscriptions.ts';
import { liveCustomer } from './live-customer.ts';
import type { Customer } from '../types/customers.ts';
import type { World } from '../types/world.ts';

const untouched = {
  customer_account: null,
  default_source: null,
  discount: null,
  livemode: false,
  preferred_locales: [],
  shipping: null,
  tax_exempt: 'none',
  test_clock: null,
};

export function createCustomer(world: World, { params }: Call<Stripe.CustomerCreateParams>): Customer {
  // A request of another account creates a customer all the same.
  world.request.unknownCustomers = false;
  const customer = world.customers.insert({
    ...untouched,
    id: newId('cus_', 14),
    object: 'customer',
    created: world.now(),
    email: params.email ?? null,
    phone: params.phone ?? null,
    name: params.name ?? null,
    description: params.description ?? null,
    address: addressOf(params.address),
    balance: params.balance ?? 0,
    currency: null,
    delinquent: false,
    invoice_prefix: newId('', 8).toUpperCase(),
    next_invoice_sequence: 1,
    invoice_settings: { default_payment_method: null, custom_fields: null, footer: null, rendering_options: null },
    metadata: newMetadata(params.metadata),
    _: { phone: null },
  });
  if (params.payment_method) attach(world, params.payment_method, customer.id, 'payment_method');
  return applyUpdates(world, customer.id, params);
}

export function updateCustomer(world: World, call: Call<Stripe.CustomerUpdateParams>): Customer {
  liveCustomer(world, idOf(call));
  return applyUpdates(world, idOf(call), call.params);
}

function applyUpdates(world: World, id: string, params: Stripe.CustomerUpdateParams): Customer {
  const wanted = params.invoice_settings?.default_payment_method;
  const method = wanted ? ownMethod(world, id, wanted, 'invoice_settings[default_payment_method]').id : null;
  if (params.email) requireEmail(params.email);
  return world.customers.change(id, (customer) => {
    const before = structuredClone(customer);
    for (const name of ['email', 'phone', 'name', 'description'] as const) {
      if (params[name] !== undefined) customer[name] = params[name] || null;
    }
    if (params.address !== undefined) customer.address = addressOf(params.address);
    if (params.balance !== undefined) customer.balance = params.balance;
    if (wanted !== undefined) customer.invoice_settings.default_payment_method = method;
    customer.metadata = mergeMetadata(customer.metadata, params.metadata);
    customer._ = { phone: customer.metadata['phone'] ?? customer.phone, indexed: indexAfter(before) };
  });
}

export function retrieveCustomer(world: World, call: Call): Customer | object {
  const customer = world.customers.get(idOf(call));
  return customer.deleted ? { id: customer.id, object: 'customer', deleted: true } : customer;
}

export function listCustomers(world: World, { params }: Call<Stripe.CustomerListParams>) {
  const found = world.customers
    .all()
    .filter((customer) => !customer.deleted && inRange(customer.created, params.created))
    .filter((customer) => params.email === undefined || customer.email === params.email);
  return pageOf(found, params, '/v1/customers', world.customers);
}

/** Ends every subscription at once and keeps only the id. */
export function deleteCustomer(world: World, call: Call): object {
  const { id } = liveCustomer(world, idOf(call));
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer === id && isLive(subscription)) endSubscription(world, subscription.id);
  }
  const customer = world.customers.get(id);
  world.customers.change(id, (customer) => void (customer.deleted = true), null);
  world.emit('customer.deleted', customer);
  for (const method of world.paymentMethods.all()) if (method.customer === id) detach(world, method.id);
  return { id, object: 'customer', deleted: true };
}
