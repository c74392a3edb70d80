import type { Stripe } from 'stripe';
import { type Call } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import type { World } from '../types/world.ts';

export function listEvents(world: World, { params }: Call<Stripe.EventListParams>) {
  const { type, types, created } = params;
  const found = world.events
    .all()
    .filter((event) => type === undefined || matches(event.type, type))
    .filter((event) => types === undefined || types.some((pattern) => matches(event.type, pattern)))
    .filter((event) => inRange(event.created, created));
  return pageOf(found, params, '/v1/events', world.events);
}

/** `invoice.*` matches every event of invoices, `*` every event. */
export function matches(type: string, pattern: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
