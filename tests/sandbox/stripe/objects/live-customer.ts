import { missing, notFound } from '../errors.ts';
import type { Customer } from '../types/customers.ts';
import type { World } from '../types/world.ts';

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
