import type { Stripe } from 'stripe';
import type { Leased } from './lease.ts';
import { unlessMissing } from './stripe.ts';

/** The user's customer at Stripe, made on first use; the same one however often it is asked for within a day. */
export async function ensureCustomer(stripe: Stripe, { customer, user }: Leased): Promise<string> {
  return customer.stripeId ?? (await makeCustomer(stripe, user, `customer:${user.id}`));
}

/** Runs work for the user's customer; for another in its place where it was deleted in Stripe's dashboard. */
export async function withCustomer<T>(stripe: Stripe, leased: Leased, work: (customer: string) => Promise<T>) {
  const id = await ensureCustomer(stripe, leased);
  const result = await unlessMissing(work(id), 'customer');
  if (result !== null) return { id, result };
  const another = await makeCustomer(stripe, leased.user, `customer:${leased.user.id}:after:${id}`);
  return { id: another, result: await work(another) };
}

async function makeCustomer(stripe: Stripe, { id, phone }: Leased['user'], idempotencyKey: string): Promise<string> {
  const customer = await stripe.customers.create({ phone, metadata: { userId: id, phone } }, { idempotencyKey });
  return customer.id;
}
