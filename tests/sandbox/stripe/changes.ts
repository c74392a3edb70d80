import { isDeepStrictEqual } from 'node:util';

type Attributes = Record<string, unknown>;

/** The `previous_attributes` of an event: the old values of changed fields. Lists are complete. */
export function previousAttributes(before: Attributes, after: Attributes): Attributes {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => name !== '_' && !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, previous(before[name], after[name])]));
}

function previous(before: unknown, after: unknown): unknown {
  if (isPlain(before) && isPlain(after)) return previousAttributes(before, after);
  return before ?? null;
}

function isPlain(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
