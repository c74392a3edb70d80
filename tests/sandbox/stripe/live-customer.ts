import { missing, notFound, invalid } from './api/errors.ts';
import type { Customer, Metadata, Address } from './merchant-types.ts';
import type { World } from './world.ts';
import type { Stripe } from 'stripe';

/** A customer that was not deleted. Throws `resource_missing`: 400 for the parameter `param`, else 404. */
export function liveCustomer(world: World, id: string, param?: string): Customer {
  const customer = world.customers.get(id, param);
  if (customer.deleted) throw param === undefined ? notFound('customer', id) : missing('customer', id, param);
  return customer;
}

/** Throws where a list is filtered by a customer who never existed. */
export function requireCustomer(world: World, id: string | undefined): void {
  if (id !== undefined) world.customers.get(id, 'customer');
}

type MetadataParam = '' | null | Record<string, string | number | null> | undefined;

/** Merges metadata: an empty value removes its key, an empty text removes every key. */
export function mergeMetadata(old: Metadata, changes: MetadataParam): Metadata {
  if (changes === undefined) return old;
  if (changes === '' || changes === null) return {};
  const merged = { ...old, ...(changes as Metadata) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== null));
}

/** A new object's metadata. */
export function newMetadata(given: MetadataParam): Metadata {
  return mergeMetadata({}, given);
}

/** Throws for what cannot be an e-mail address. */
export function requireEmail(email: string): void {
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return;
  throw invalid(`Invalid email address: ${email}`, 'email', 'email_invalid');
}

/** An address with all of Stripe's fields; null when it is unset. */
export function addressOf(given: Stripe.CustomerUpdateParams['address']): Address | null {
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
