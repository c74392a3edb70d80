import { isObject, listOf } from '../table.ts';
import { findById, type World } from '../world.ts';
import { invalid, type StripeError } from './errors.ts';

/** Decodes a form into the parameters of an endpoint. Throws for unknown, missing and malformed ones. */
export function decodeFields(fields: Fields, given: object, path = ''): Record<string, unknown> {
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const inner = path === '' ? name : `${path}[${name}]`;
    const shape = fields[`${name}!`] ?? fields[name];
    if (shape === undefined)
      throw invalid(`Received unknown parameter: ${inner}`, inner, 'parameter_unknown');
    return [name, decode(shape, value, inner)];
  });
  for (const name of Object.keys(fields)) {
    if (!name.endsWith('!') || name.slice(0, -1) in given) continue;
    const inner = path === '' ? name.slice(0, -1) : `${path}[${name.slice(0, -1)}]`;
    throw invalid(`Missing required param: ${inner}.`, inner, 'parameter_missing');
  }
  return Object.fromEntries(entries);
}

function decode(shape: Shape, value: unknown, path: string): unknown {
  if (typeof shape === 'string') return decodeText(shape, value, path);
  if (isChoice(shape)) return decodeChoice(shape['|'], value, path);
  if (typeof value !== 'object' || value === null)
    throw invalid(`Invalid ${Array.isArray(shape) ? 'array' : 'object'}`, path);
  if (!Array.isArray(shape)) return decodeFields(shape, value, path);
  return Object.values(value).map((item, index) => decode(shape[0], item, `${path}[${index}]`));
}

function decodeText(shape: string, value: unknown, path: string): unknown {
  if (shape === 'metadata') return decodeMetadata(value, path);
  if (typeof value !== 'string') throw invalid('Invalid string', path);
  const number = numbers[shape];
  if (number) return decodeNumber(number, value, path);
  if (shape === 'url') return decodeUrl(value, path);
  if (shape === 'boolean') return decodeBoolean(value, path);
  if (shape === 'empty' && value !== '') throw invalid('Invalid value', path);
  if (!shape.startsWith('enum:')) return value;
  const values = shape.slice('enum:'.length).split('|');
  if (values.includes(value)) return value;
  const choices = new Intl.ListFormat('en', { type: 'disjunction' }).format(values);
  throw invalid(`Invalid ${path}: must be ${values.length < 3 ? '' : 'one of '}${choices}`, path);
}

type NumberShape = { pattern: RegExp; label: string };

const numbers: Record<string, NumberShape> = {
  number: { pattern: /^-?\d+$/, label: 'integer' },
  amount: { pattern: /^\d+$/, label: 'non-negative integer' },
  decimal: { pattern: /^-?\d+(\.\d+)?$/, label: 'decimal' },
};

function decodeNumber({ pattern, label }: NumberShape, value: string, path: string): number {
  if (pattern.test(value)) return Number(value);
  throw invalid(`Invalid ${label}: ${value}`, path, 'parameter_invalid_integer');
}

function decodeUrl(value: string, path: string): string {
  if (/^https?:\/\/./.test(value) && URL.canParse(value)) return value;
  throw invalid(
    'Invalid URL: An explicit scheme (such as https) must be provided.',
    path,
    'url_invalid',
  );
}

function decodeBoolean(value: string, path: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalid(`Invalid boolean: ${value}`, path);
}

function decodeMetadata(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) throw invalid('Invalid object', path);
  const entries = Object.entries(value);
  if (entries.length > 50) throw invalid('You can have at most 50 metadata keys.', path);
  for (const [key, text] of entries) {
    if (typeof text !== 'string')
      throw invalid('Metadata values must be strings.', `${path}[${key}]`);
    if (key.length > 40) throw invalid('Metadata keys must be under 40 characters long.', path);
    if (text.length > 500)
      throw invalid('Metadata values can have up to 500 characters.', `${path}[${key}]`);
  }
  return value;
}

/** The first choice that accepts the value; else throws the error with the longest parameter path. */
function decodeChoice(choices: Shape[], value: unknown, path: string): unknown {
  let refusal: StripeError | undefined;
  for (const choice of choices) {
    try {
      return decode(choice, value, path);
    } catch (error) {
      const found = error as StripeError;
      if (!refusal || (found.details.param?.length ?? 0) > (refusal.details.param?.length ?? 0))
        refusal = found;
    }
  }
  throw refusal ?? invalid('Invalid value', path);
}

/**
 * The shape of a parameter in short: string, url, number (whole), amount (not negative), decimal, boolean, empty (''),
 * metadata (a map of strings) or `enum:a|b`. A
 * list holds its element's shape, `{"|": […]}` its choices, and any other object its fields, of which `name!` is
 * required. `parameters/requests.json` has the parameters of each call that the local Stripe supports, as Stripe's OpenAPI
 * file declares them; all others are refused. `parameters/new-objects.json` has the fields with which each kind of
 * object begins.
 */
type Shape = string | [Shape] | { '|': Shape[] } | { [field: string]: Shape };
export type Fields = { [field: string]: Shape };

function isChoice(shape: Shape): shape is { '|': Shape[] } {
  return typeof shape === 'object' && '|' in shape;
}

type Json = Record<string, unknown>;

const deepest = 4;

/** Replaces ids by their objects along the paths of `expand`. */
export function expand(world: World, response: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(response) as Json;
  if (!paths.some((path) => path.endsWith('features.subscription_update.products')))
    withoutPortalProducts(copy);
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.length > deepest)
      throw invalid(
        'You cannot expand more than 4 levels of a property.',
        'expand',
        'property_expansion_max_depth',
      );
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
  if (object === 'list' && Array.isArray(data))
    for (const item of data) withoutPortalProducts(item as Json);
  if (object !== 'billing_portal.configuration') return;
  delete (features as { subscription_update: Json }).subscription_update['products'];
}

function confirmationSecret(world: World, id: string): unknown {
  const { paymentIntent } = world.invoices.get(id)._;
  if (!paymentIntent) return null;
  return {
    client_secret: world.paymentIntents.get(paymentIntent).client_secret,
    type: 'payment_intent',
  };
}

/** The value of a field that an object contains only if `expand` names it. */
function included(world: World, { object, id, data }: Json, step: string): unknown {
  if (object === 'invoice' && step === 'confirmation_secret')
    return confirmationSecret(world, String(id));
  if (object === 'invoice' && step === 'payments') {
    const own = world.invoicePayments.all().filter(({ invoice }) => invoice === id);
    return listOf(structuredClone(own), '/v1/invoice_payments');
  }
  if (object === 'list' && Array.isArray(data))
    throw invalid(
      `This property cannot be expanded (${step}). You may want to try expanding 'data.${step}' instead.`,
    );
  throw invalid(`This property cannot be expanded because it doesn't exist: ${step}.`);
}

function objectNamed(world: World, id: string, step: string): unknown {
  const found = findById(world, id);
  if (!found) throw cannotExpand(step);
  return 'deleted' in found
    ? {
        id,
        object: 'customer',
        deleted: true,
      }
    : found;
}

const cannotExpand = (step: string): Error =>
  invalid(`This property cannot be expanded (${step}).`);

function withoutPrivate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrivate);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== '_');
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutPrivate(inner)]));
}
