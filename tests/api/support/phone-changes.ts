import { expect } from 'vitest';
import { eventually } from './clock.ts';
import { beginChange, verifyChange } from './codes.ts';
import { stripe } from './stripe.ts';

/** Moves an account to a new number. */
export async function change({ token }: { token: string }) {
  const begun = await beginChange(token);
  const response = await verifyChange(token, begun);
  expect(response.status).toBe(200);
  return { phone: begun.phone, response };
}

export const untilAtStripe = (customer: string, phone: string) =>
  eventually(async () =>
    expect(await stripe.customers.retrieve(customer)).toMatchObject({
      phone,
      metadata: { phone },
    }),
  );
