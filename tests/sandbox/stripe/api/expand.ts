import { invalid } from './errors.ts';
import { listOf } from '../table.ts';
import { findById, type World } from '../world.ts';

type Json = Record<string, unknown>;

const deepest = 4;

/** Replaces ids by their objects along the paths of `expand`. */
export function expand(world: World, response: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(response) as Json;
  if (!paths.some((path) => path.endsWith('features.subscription_update.products'))) withoutPortalProducts(copy);
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.filter((step) => step !== 'data').length > deepest) {
      throw invalid('You cannot expand more than 4 levels of a property.', 'expand', 'property_expansion_max_depth');
    }
    expandAlong(world, copy, steps);
  }
  return withoutPrivate(copy);
}

function expandAlong(world: World, parent: Json, [step, ...rest]: string[]): void {
  if (step === undefined) return;
  if (!(step in parent)) parent[step] = included(world, parent, step);
  const value = parent[step];
  if (typeof value === 'string') parent[step] = structuredClone(objectNamed(world, value, step));
  const next = parent[step];
  if (Array.isArray(next))
    for (const [index, item] of next.entries()) next[index] = expandItem(world, item, step, rest);
  else if (isObject(next)) expandAlong(world, next, rest);
  else if (next !== null) throw cannotExpand(step);
}

function expandItem(world: World, item: unknown, step: string, rest: string[]): unknown {
  const whole = typeof item === 'string' ? structuredClone(objectNamed(world, item, step)) : item;
  if (isObject(whole)) expandAlong(world, whole, rest);
  return whole;
}

/** A response contains a portal configuration's products only if `expand` names them. */
function withoutPortalProducts({ object, data, features }: Json): void {
  if (object === 'list' && Array.isArray(data)) for (const item of data) withoutPortalProducts(item as Json);
  if (object !== 'billing_portal.configuration') return;
  delete (features as { subscription_update: Json }).subscription_update['products'];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function confirmationSecret(world: World, id: string): unknown {
  const { paymentIntent } = world.invoices.get(id)._;
  if (!paymentIntent) return null;
  return { client_secret: world.paymentIntents.get(paymentIntent).client_secret, type: 'payment_intent' };
}

/** The value of a field that an object contains only if `expand` names it. */
function included(world: World, { object, id, data }: Json, step: string): unknown {
  if (object === 'invoice' && step === 'confirmation_secret') return confirmationSecret(world, String(id));
  if (object === 'invoice' && step === 'payments') {
    const own = world.invoicePayments.all().filter(({ invoice }) => invoice === id);
    return listOf(structuredClone(own), '/v1/invoice_payments');
  }
  if (object === 'list' && Array.isArray(data)) {
    throw invalid(`This property cannot be expanded (${step}). You may want to try expanding 'data.${step}' instead.`);
  }
  throw invalid(`This property cannot be expanded because it doesn't exist: ${step}.`);
}

function objectNamed(world: World, id: string, step: string): unknown {
  const found = findById(world, id);
  if (!found) throw cannotExpand(step);
  return 'deleted' in found ? { id, object: 'customer', deleted: true } : found;
}

function cannotExpand(step: string): Error {
  return invalid(`This property cannot be expanded (${step}).`);
}

function withoutPrivate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrivate);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== '_');
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutPrivate(inner)]));
}
