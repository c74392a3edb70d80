import {
  given,
  liveCustomer,
  mergeMetadata,
  newMetadata,
  type World,
  type Call,
  idOf,
} from './world.ts';
import { invalid } from './api/errors.ts';
import type { Customer, Address, Indexed } from './objects.ts';
import type { Stripe } from 'stripe';
import { newId } from './table.ts';
import { attach, detach, ownMethod } from './payments/payment-methods.ts';
import { endSubscription } from './subscriptions/subscriptions.ts';

export function createCustomer(
  world: World,
  { params }: Pick<Call<Stripe.CustomerCreateParams>, 'params'>,
): Customer {
  // A request of another account creates a customer all the same.
  world.unknownCustomers = false;
  const customer = world.customers.insert({
    id: newId('cus_', 14),
    object: 'customer',
    created: world.now(),
    invoice_prefix: newId('', 8).toUpperCase(),
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
  const method = wanted
    ? ownMethod(world, id, wanted, 'invoice_settings[default_payment_method]').id
    : null;
  if (params.email && !/^[^\s@]+@[^\s@]+$/.test(params.email))
    throw invalid(`Invalid email address: ${params.email}`, 'email', 'email_invalid');
  return world.customers.change(id, (customer) => {
    const before = structuredClone(customer);
    Object.assign(customer, given(params, 'email', 'phone', 'name'));
    if (params.address !== undefined)
      customer.address = params.address
        ? {
            ...noAddress,
            ...params.address,
          }
        : null;
    if (wanted !== undefined) customer.invoice_settings.default_payment_method = method;
    customer.metadata = mergeMetadata(customer.metadata, params.metadata);
    customer._ = {
      phone: customer.metadata['phone'] ?? customer.phone,
      indexed: indexAfter(before),
    };
  });
}

export function retrieveCustomer(world: World, call: Call): Customer | object {
  const customer = world.customers.get(idOf(call));
  return customer.deleted
    ? {
        id: customer.id,
        object: 'customer',
        deleted: true,
      }
    : customer;
}

/** Ends every subscription at once and keeps only the id. */
export function deleteCustomer(world: World, call: Call): object {
  const { id } = liveCustomer(world, idOf(call));
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer === id) endSubscription(world, subscription.id);
  }
  const customer = world.customers.get(id);
  world.customers.change(id, { deleted: true }, null);
  world.emit('customer.deleted', customer);
  for (const method of world.paymentMethods.all())
    if (method.customer === id) detach(world, method.id);
  return { id, object: 'customer', deleted: true };
}

/** Searches for one value of the metadata, `metadata['key']:'value'`: the only clause of Stripe's query language here. */
export function searchCustomers(
  world: World,
  { params: { query, limit = 10 } }: Call<Stripe.CustomerSearchParams>,
) {
  const [, key = '', value = ''] =
    /^metadata\[["']([^"']+)["']\]:["']([^"']*)["']$/.exec(query.trim()) ?? [];
  if (!key) throw invalid(`We were unable to parse your search query: ${query}`, 'query');
  const data = world.customers.all().filter((customer) => {
    const indexed = customer.deleted ? null : searchableOf(customer);
    return indexed?.metadata[key]?.toLowerCase() === value.toLowerCase();
  });
  const url = '/v1/customers/search';
  return {
    object: 'search_result',
    data: data.slice(0, limit),
    has_more: data.length > limit,
    next_page: null,
    url,
  };
}

/** Stripe's search finds a change after up to a minute; here after two seconds. */
export const indexDelayMs = 2000;

/** The index after a customer has changed. */
const indexAfter = (before: Customer): Indexed => ({
  changedAt: Date.now(),
  earlier: searchableOf(before),
});

/** The version of a customer that search finds now; null before the index contains the customer. */
function searchableOf(customer: Customer): Indexed['earlier'] {
  const { changedAt, earlier } = customer._.indexed ?? {
    changedAt: Date.now(),
    earlier: null,
  };
  return changedAt + indexDelayMs > Date.now() ? earlier : customer;
}

const noAddress: Address = {
  city: null,
  country: null,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
};
