export type Row = { id: string; value: string };
type Documents = Map<string, unknown>;

/**
 * The parsed documents of every collection that was listed. Lists are read far more often than written, and parsing
 * a collection of thousands takes longer than the request that lists it.
 */
export function createCache(read: (collection: string) => Row[]) {
  const collections = new Map<string, Documents>();
  /** The collections that the current transaction has changed. */
  const changed = new Set<string>();

  return {
    find: (collection: string): Documents | undefined => collections.get(collection),
    /** The documents to change, if they are cached. */
    change(collection: string): Documents | undefined {
      changed.add(collection);
      return collections.get(collection);
    },
    load(collection: string): Documents {
      const documents = collections.get(collection) ?? parseAll(read(collection));
      collections.set(collection, documents);
      return documents;
    },
    beginTransaction: () => changed.clear(),
    /** After a rollback. */
    dropChanged() {
      for (const collection of changed) collections.delete(collection);
    },
    clear: () => collections.clear(),
  };
}

const parseAll = (rows: Row[]): Documents => new Map(rows.map(({ id, value }) => [id, parse(value)]));

/** A frozen value, since every reader gets the same one. */
export function parse(text: string): unknown {
  return freeze(JSON.parse(text));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
