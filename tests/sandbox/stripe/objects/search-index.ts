import type { Customer, Indexed, Searchable } from '../types/customers.ts';

/** Stripe's search finds a change after up to a minute; here after two seconds. */
export const indexDelayMs = 2000;

/** The index after a customer has changed. */
export function indexAfter(before: Customer): Indexed {
  return { changedAt: Date.now(), earlier: searchableOf(before) };
}

/** The version of a customer that search finds now; null before the index contains the customer. */
export function searchableOf(customer: Customer): Searchable | null {
  const { changedAt, earlier } = customer._.indexed ?? { changedAt: Date.now(), earlier: null };
  return changedAt + indexDelayMs > Date.now() ? earlier : customer;
}
