import type { Store } from './store.ts';
import { missing, invalid } from './api/errors.ts';
import { isDeepStrictEqual } from 'node:util';
import { randomInt } from 'node:crypto';
import newObjects from './parameters/new-objects.json' with { type: 'json' };

/** An object as Stripe returns it; `_` is internal and never part of a response. */
export type Doc = { id: string; object: string; _?: unknown };

export type Table<T extends Doc> = ReturnType<typeof openTable<T>>;

/** A kind of object; `prefix` begins its ids. */
export type Kind<T> = {
  prefix: string;
  /** Its name in Stripe's error messages. */
  label: string;
  /** The `param` of a 404. */
  pathParam?: string;
  /** The prefix of its event types; without one it emits no events. */
  event?: string;
  /** When the clock changes it next, in unix seconds. */
  dueAt?: (doc: T) => number | null;
};
export type Emit = (type: string, object: Doc, previous?: Record<string, unknown>) => void;
/** An object that its customer's clock changes, and when (unix seconds). */
export type Due = {
  id: string;
  table: string;
  at: number;
  customer: string;
};

export const dueCollection = 'stripe/due';

/** What the tables share; while `isHidden` returns true, the tables of this name find no object. */
type Shared = {
  store: Store;
  emit: Emit;
  isHidden: (name: string) => boolean;
};

export function openTable<T extends Doc>(
  { store, emit, isHidden }: Shared,
  name: string,
  kind: Kind<T>,
) {
  const { label, pathParam, event, dueAt } = kind;
  const collection = `stripe/${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;

  function find(id: string): T | undefined {
    return isHidden(name) ? undefined : store.get<T>(collection, id);
  }
  /** Throws `resource_missing`: 400 for the parameter `param`, 404 for the address when it is left out. */
  function get(id: string, param?: string): T {
    const doc = find(id);
    if (!doc) throw missing(label, id, param, pathParam);
    return doc;
  }
  function save(doc: T): T {
    store.put(collection, doc.id, doc);
    if (!dueAt) return doc;
    const at = dueAt(doc);
    if (at === null) store.delete(dueCollection, doc.id);
    else
      store.put(dueCollection, doc.id, {
        id: doc.id,
        table: name,
        at,
        customer: ownerOf(doc),
      } satisfies Due);
    return doc;
  }
  /** Emits `….created`. */
  function insert(given: Given<T>): T {
    const doc = save(newObject(given));
    if (event) emit(`${event}.created`, doc);
    return doc;
  }
  /** Edits or replaces fields, saves and emits `….updated` or another event; emits none if nothing changed. */
  function change(
    id: string,
    edit: Edit<T>,
    type: string | null = event ? `${event}.updated` : null,
  ): T {
    const before = get(id);
    const after = structuredClone(before);
    if (typeof edit === 'function') edit(after);
    else Object.assign(after, edit);
    save(after);
    const previous = previousAttributes(before, after);
    const carriesPrevious = type?.endsWith('.updated') || type === 'payment_method.detached';
    if (type?.endsWith('.updated') && Object.keys(previous).length === 0) return after;
    if (type) emit(type, after, carriesPrevious ? previous : undefined);
    return after;
  }
  function remove(id: string): void {
    store.delete(collection, id);
    store.delete(dueCollection, id);
  }
  /** Newest first, as Stripe lists. */
  function all(): T[] {
    return isHidden(name) ? [] : store.list<T>(collection).toReversed();
  }
  return { label, find, get, all, insert, change, remove };
}

type Edit<T> = ((doc: T) => void) | Partial<T>;

const ownerOf = (doc: Doc & { customer?: unknown }): string =>
  typeof doc.customer === 'string' ? doc.customer : '';

type NewObjects = typeof newObjects;
type FirstField<T> = T extends { object: keyof NewObjects } ? keyof NewObjects[T['object']] : never;
/** An object that may lack what `newObject` adds. */
export type Given<T> = Omit<T, FirstField<T>> & Partial<T>;

/** A new object: what is given, and the fields of `new-objects.json`, with which every object of its kind begins. */
export function newObject<T extends { object: string }>(given: Given<T>): T {
  return {
    ...(newObjects as Record<string, object>)[given.object as string],
    ...given,
  } as unknown as T;
}

type Attributes = Record<string, unknown>;

/** The `previous_attributes` of an event: the old values of changed fields. Lists are complete. */
function previousAttributes(before: Attributes, after: Attributes): Attributes {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter(
    (name) => name !== '_' && !isDeepStrictEqual(before[name], after[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, previous(before[name], after[name])]));
}

function previous(before: unknown, after: unknown): unknown {
  if (isObject(before) && isObject(after)) return previousAttributes(before, after);
  return before ?? null;
}

export function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id in Stripe's format: a prefix such as `cus_`, and random letters. */
export function newId(prefix: string, length = 24): string {
  let id = prefix;
  for (let count = 0; count < length; count++) id += letters[randomInt(letters.length)];
  return id;
}

export type List<T> = {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
};
export type PageParams = { limit?: number; starting_after?: string };

/** A complete list in the format of a list inside an object. */
export const listOf = <T>(data: T[], url: string): List<T> => ({
  object: 'list',
  data,
  has_more: false,
  url,
});

/** One page of a table, newest first. The cursor may name an object that the filter excludes. */
export function pageOf<T extends { id: string }>(
  docs: T[],
  params: PageParams,
  url: string,
  table: Pages<T>,
): List<T> {
  const { limit = 10, starting_after: after } = params;
  // Recorded: Stripe moves a limit silently into 1 to 100.
  const size = Math.min(Math.max(limit, 1), 100);
  const rest = after === undefined ? docs : docsAfter(after, docs, table);
  return {
    ...listOf(rest.slice(0, size), url),
    has_more: rest.length > size,
  };
}

/** Where cursors are looked up. */
type Pages<T> = { label: string; all(): T[] };

function docsAfter<T extends { id: string }>(cursor: string, docs: T[], table: Pages<T>): T[] {
  const ids = table.all().map(({ id }) => id);
  const position = ids.indexOf(cursor);
  if (position === -1)
    throw invalid(`No such ${table.label}: '${cursor}'`, 'starting_after', 'resource_missing');
  const passed = new Set(ids.slice(0, position + 1));
  return docs.filter(({ id }) => !passed.has(id));
}
