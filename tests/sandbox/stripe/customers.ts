import { liveCustomer, mergeMetadata, newMetadata, type World, type Call, idOf } from './world.ts';
import { invalid } from './api/errors.ts';
import type { Customer, Address, Searchable, Indexed } from './objects.ts';
import type { Stripe } from 'stripe';
import { inRange, pageOf, newId } from './table.ts';
import { attach, detach, ownMethod } from './payments/payment-methods.ts';
import { endSubscription, isLive } from './subscriptions/subscriptions.ts';

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

type Clause = { field: string; key: string | undefined; operator: string; value: string | null; isNegated: boolean };

const clausePattern =
  /^(-?)(created|email|metadata|name|phone)(?:\[["']([^"']+)["']\])?(:|~|<=|>=|<|>)(?:"([^"]*)"|'([^']*)'|(null|\d+))$/;

/** Searches by Stripe's query language: clauses joined by AND or by OR, never both. */
export function searchCustomers(world: World, { params }: Call<Stripe.CustomerSearchParams>) {
  const { query, limit = 10, page } = params;
  const { clauses, isAny } = readQuery(query);
  const found = world.customers.all().filter((customer) => {
    const indexed = customer.deleted ? null : searchableOf(customer);
    if (!indexed) return false;
    return isAny ? clauses.some((clause) => fits(indexed, clause)) : clauses.every((clause) => fits(indexed, clause));
  });
  return resultPage(found, { limit, start: page ? Number(Buffer.from(page, 'base64url').toString()) : 0 });
}

function readQuery(query: string): { clauses: Clause[]; isAny: boolean } {
  const isAny = / OR /i.test(query);
  if (isAny && / AND /i.test(query)) throw unreadable('You may not combine AND and OR operators in the same query.');
  const clauses = query.split(isAny ? / OR /i : / AND /i).map((text) => {
    const [, minus, field = '', key, operator = '', double, single, bare] = clausePattern.exec(text.trim()) ?? [];
    if (!field) throw unreadable(`We were unable to parse your search query: ${text}`);
    const value = double ?? single ?? (bare === 'null' ? null : (bare ?? ''));
    return { field, key, operator, value, isNegated: minus === '-' };
  });
  return { clauses, isAny };
}

function unreadable(message: string): Error {
  return invalid(message, 'query');
}

function fits(customer: Searchable, { field, key, operator, value, isNegated }: Clause): boolean {
  const stored = key === undefined ? customer[field as keyof Searchable] : customer.metadata[key];
  return compare(stored as string | number | null | undefined, operator, value) !== isNegated;
}

function compare(stored: string | number | null | undefined, operator: string, value: string | null): boolean {
  if (value === null) return stored === null || stored === undefined;
  if (typeof stored === 'number') return compareNumbers(stored, operator, Number(value));
  if (typeof stored !== 'string') return false;
  const [own, wanted] = [stored.toLowerCase(), value.toLowerCase()];
  return operator === '~' ? own.includes(wanted) : own === wanted;
}

function compareNumbers(stored: number, operator: string, value: number): boolean {
  if (operator === '<') return stored < value;
  if (operator === '>') return stored > value;
  if (operator === '<=') return stored <= value;
  return operator === '>=' ? stored >= value : stored === value;
}

function resultPage(found: Customer[], { limit, start }: { limit: number; start: number }) {
  const size = Math.min(Math.max(limit, 1), 100);
  const hasMore = found.length > start + size;
  return {
    object: 'search_result',
    data: found.slice(start, start + size),
    has_more: hasMore,
    next_page: hasMore ? Buffer.from(String(start + size)).toString('base64url') : null,
    url: '/v1/customers/search',
  };
}

/** Stripe's search finds a change after up to a minute; here after two seconds. */
export const indexDelayMs = 2000;

/** The index after a customer has changed. */
function indexAfter(before: Customer): Indexed {
  return { changedAt: Date.now(), earlier: searchableOf(before) };
}

/** The version of a customer that search finds now; null before the index contains the customer. */
function searchableOf(customer: Customer): Searchable | null {
  const { changedAt, earlier } = customer._.indexed ?? { changedAt: Date.now(), earlier: null };
  return changedAt + indexDelayMs > Date.now() ? earlier : customer;
}

/** Throws for what cannot be an e-mail address. */
function requireEmail(email: string): void {
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return;
  throw invalid(`Invalid email address: ${email}`, 'email', 'email_invalid');
}

/** An address with all of Stripe's fields; null when it is unset. */
function addressOf(given: Stripe.CustomerUpdateParams['address']): Address | null {
  const { city, country, line1, line2, postal_code, state } = given || {};
  if (!given) return null;
  return {
    city: city ?? null,
    country: country ?? null,
    line1: line1 ?? null,
    line2: line2 ?? null,
    postal_code: postal_code ?? null,
    state: state ?? null,
  };
}
