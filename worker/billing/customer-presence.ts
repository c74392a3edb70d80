import type { Stripe } from 'stripe';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { unlessMissing } from './stripe-client.ts';

/** `gone` was deleted in Stripe's dashboard; `unknown` belongs to the account of another key. */
export async function presenceOfCustomer(stripe: Stripe, id: string): Promise<'present' | 'gone' | 'unknown'> {
  const found = await unlessMissing(stripe.customers.retrieve(id));
  if (!found) return 'unknown';
  return found.deleted ? 'gone' : 'present';
}

/** Logs a customer that Stripe does not know and throws 503: nothing changes until the key is corrected. */
export function refuseUnknownCustomer(customer: string): RequestError {
  log('error', 'stripe_customer_unknown', { customer, action: 'Check that STRIPE_SECRET_KEY is of the same account.' });
  return new RequestError('unavailable');
}
