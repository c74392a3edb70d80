import type { Customer } from './customers.ts';

/** Stripe's search finds changes after up to a minute; here after two seconds. */
export const indexDelayMs = 2000;

/** What search finds of a customer until the index has its last change, made at `changedAt` (unix ms). */
export type Indexed = { changedAt: number; earlier: Searchable | null };
export type Searchable = Pick<Customer, 'created' | 'email' | 'metadata' | 'name' | 'phone'>;

/** The index after a customer has changed. */
export function indexAfter(before: Customer): Indexed {
  return { changedAt: Date.now(), earlier: searchableOf(before) };
}

/** What search finds of a customer at this moment; null before the index has it. */
export function searchableOf(customer: Customer): Searchable | null {
  const { changedAt, earlier } = customer._.indexed ?? { changedAt: Date.now(), earlier: null };
  return changedAt + indexDelayMs > Date.now() ? earlier : customer;
}
