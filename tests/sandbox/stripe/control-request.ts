import type { Context } from 'hono';
import type { Customer } from './types/customers.ts';
import type { World } from './types/world.ts';

export async function readBody(c: Context): Promise<Record<string, unknown>> {
  const body = await c.req.json<unknown>().catch(() => ({}));
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

export function unknownCustomer(c: Context): Response {
  return c.json({ error: 'Stripe knows no such customer, or no card of theirs' }, 404);
}

/** The customer with this number, else the last deleted one with it. */
export function findCustomer(world: World, phone: string): Customer | undefined {
  const digits = phone.replaceAll(/\D/g, '');
  const found = world.customers.all().filter(({ _ }) => _.phone !== null && _.phone.replaceAll(/\D/g, '') === digits);
  return found.find((customer) => !customer.deleted) ?? found[0];
}

/** The customer with this number, '' for everybody if none is named, undefined if it is unknown. */
export function scopeOf(world: World, phone: unknown): string | undefined {
  if (phone === undefined) return '';
  return typeof phone === 'string' ? findCustomer(world, phone)?.id : undefined;
}
