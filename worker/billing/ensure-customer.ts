import type { Stripe } from 'stripe';
import type { Leased } from './lease.ts';

/** The user's customer at Stripe, made on first use; the same one however often it is asked for. */
export async function ensureCustomer(stripe: Stripe, { customer, user }: Leased): Promise<string> {
  if (customer.stripeId) return customer.stripeId;
  const { id } = await stripe.customers.create(
    { phone: user.phone, metadata: { userId: user.id, phone: user.phone } },
    { idempotencyKey: `customer:${user.id}` },
  );
  return id;
}
