import { paymentsOf } from '../objects/invoice-payments.ts';
import { invalid } from '../errors.ts';
import { type CheckoutSession, lineItemsOf } from '../objects/checkout-sessions.ts';
import { isLive } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { listOf } from './page.ts';

type Json = Record<string, unknown>;

const deepest = 4;

/** Puts whole objects where an answer has ids, along the paths that were asked for. */
export function expand(world: World, answer: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(answer) as Json;
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.filter((step) => step !== 'data').length > deepest) {
      throw invalid('You cannot expand more than 4 levels of a property.', 'expand', 'property_expansion_max_depth');
    }
    expandAlong(world, copy, steps, path);
  }
  return withoutPrivate(copy);
}

function expandAlong(world: World, parent: Json, [step, ...rest]: string[], path: string): void {
  if (step === undefined) return;
  if (!(step in parent)) parent[step] = included(world, parent, step, path);
  const value = parent[step];
  if (typeof value === 'string') parent[step] = structuredClone(findById(world, value, path, rest)) ?? value;
  const next = parent[step];
  if (Array.isArray(next))
    for (const [index, item] of next.entries()) next[index] = expandItem(world, item, rest, path);
  else if (typeof next === 'object' && next !== null) expandAlong(world, next as Json, rest, path);
  else if (next !== null && typeof next !== 'string') throw cannotExpand(path);
}

function expandItem(world: World, item: unknown, rest: string[], path: string): unknown {
  const whole = typeof item === 'string' ? (structuredClone(findById(world, item, path, rest)) ?? item) : item;
  if (typeof whole === 'object' && whole !== null) expandAlong(world, whole as Json, rest, path);
  return whole;
}

/** What an object holds only when it is asked for. */
function included(world: World, { object, id }: Json, name: string, path: string): unknown {
  if (object === 'checkout.session' && name === 'line_items') {
    return lineItemsOf(world, world.checkoutSessions.get(String(id)) satisfies CheckoutSession);
  }
  if (object === 'invoice' && name === 'payments') return listOf(paymentsOf(world, String(id)), '/v1/invoice_payments');
  if (object === 'customer' && name === 'subscriptions') {
    const held = world.subscriptions.all().filter((found) => found.customer === id && isLive(found));
    return listOf(held, `/v1/customers/${String(id)}/subscriptions`);
  }
  if (object === 'customer' && name === 'sources') return listOf([], `/v1/customers/${String(id)}/sources`);
  throw cannotExpand(path);
}

function findById(world: World, id: string, path: string, rest: string[]): unknown {
  const [, table] = tables.find(([prefix]) => id.startsWith(prefix)) ?? [];
  if (!table) throw cannotExpand(path);
  const found = world[table].find(id);
  if (found && 'deleted' in found) return { id, object: 'customer', deleted: true };
  if (!found && rest.length > 0) throw cannotExpand(path);
  return found;
}

function cannotExpand(path: string): Error {
  return invalid(`This property cannot be expanded (${path}).`, 'expand', 'property_cannot_be_expanded');
}

const tables = [
  ['cus_', 'customers'],
  ['sub_sched_', 'schedules'],
  ['sub_', 'subscriptions'],
  ['price_', 'prices'],
  ['prod_', 'products'],
  ['pm_', 'paymentMethods'],
  ['seti_', 'setupIntents'],
  ['pi_', 'paymentIntents'],
  ['inpay_', 'invoicePayments'],
  ['in_', 'invoices'],
  ['bpc_', 'portalConfigurations'],
] as const satisfies [string, keyof World][];

function withoutPrivate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrivate);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== '_');
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutPrivate(inner)]));
}
