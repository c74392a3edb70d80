import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

// oxlint-disable typescript/no-unnecessary-type-parameters -- whoever reads a document names its type

/** The state of the local services: JSON documents by collection and id, kept across restarts. */
export type Store = {
  get<T>(collection: string, id: string): T | undefined;
  put(collection: string, id: string, value: unknown): void;
  delete(collection: string, id: string): void;
  /** In the order of their first insertion. */
  list<T>(collection: string): T[];
  clear(): void;
  /** Runs a transaction; a nested one joins the outer one. */
  transaction<T>(work: () => T): T;
};

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (collection, id)
  );
`;

/** Opens the store's file, or ':memory:'. Documents that it returns are frozen. */
export function openStore(file: string): Store & { close(): void } {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file);
  database.exec(schema);
  const get = database.prepare('SELECT value FROM documents WHERE collection = ? AND id = ?');
  const put = database.prepare(
    'INSERT INTO documents (collection, id, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ?');
  const list = database.prepare('SELECT id, value FROM documents WHERE collection = ? ORDER BY seq');
  const cache = createCache((collection) => list.all(collection) as Row[]);

  return {
    get<T>(collection: string, id: string) {
      const cached = cache.find(collection);
      if (cached) return cached.get(id) as T | undefined;
      const row = get.get(collection, id) as Row | undefined;
      return row && (parse(row.value) as T);
    },
    put(collection, id, value) {
      const text = JSON.stringify(value);
      put.run(collection, id, text);
      cache.change(collection)?.set(id, parse(text));
    },
    delete(collection, id) {
      remove.run(collection, id);
      cache.change(collection)?.delete(id);
    },
    list: <T>(collection: string) => [...cache.load(collection).values()] as T[],
    clear() {
      database.exec('DELETE FROM documents');
      cache.clear();
    },
    transaction<T>(work: () => T): T {
      if (database.inTransaction) return work();
      cache.beginTransaction();
      try {
        return database.transaction(work)();
      } catch (error) {
        cache.dropChanged();
        throw error;
      }
    },
    close: () => void database.close(),
  };
}

export type Row = { id: string; value: string };
type Documents = Map<string, unknown>;

/**
 * The parsed documents of every collection that was listed. Lists are read far more often than written, and parsing
 * a collection of thousands takes longer than the request that lists it.
 */
function createCache(read: (collection: string) => Row[]) {
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
function parse(text: string): unknown {
  return freeze(JSON.parse(text));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
