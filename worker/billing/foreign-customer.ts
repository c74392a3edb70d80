import type { Stripe } from 'stripe';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';

type Customer = string | Stripe.Customer | Stripe.DeletedCustomer;

/**
 * Whether a customer at Stripe, read whole, was created for another
 * account: somebody has changed our row by hand. Customers that the owner
 * made in Stripe's dashboard name nobody.
 */
export function isForeign(customer: Customer, userId: string): boolean {
  if (typeof customer === 'string' || customer.deleted) return false;
  const { userId: owner = userId } = customer.metadata;
  if (owner === userId) return false;

  log('error', 'row_not_bound', { table: 'customers' });
  return true;
}

/** Throws 503 for a customer of another account. */
export function requireOwner(customer: Customer, userId: string): void {
  if (isForeign(customer, userId)) throw new RequestError('unavailable');
}
