import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

// oxlint-disable typescript/no-unnecessary-type-parameters -- whoever reads a document names its type

export type Store = Omit<ReturnType<typeof openStore>, 'close'>;

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

/**
 * Opens the state of the local services in a file, or ':memory:': JSON documents by collection and id, kept across
 * restarts. Documents that it returns are frozen.
 */
export function openStore(file: string) {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file);
  database.exec(schema);
  const put = database.prepare(
    'INSERT INTO documents (collection, id, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ?');
  const list = database.prepare(
    'SELECT id, value FROM documents WHERE collection = ? ORDER BY seq',
  );
  /** The parsed documents, since parsing a collection of thousands takes longer than the request that lists it. */
  const collections = new Map<string, Map<string, unknown>>();
  /** The collections that the current transaction has changed. */
  const changed = new Set<string>();

  function documentsOf(collection: string): Map<string, unknown> {
    const rows = () =>
      list.all(collection) as {
        id: string;
        value: string;
      }[];
    const documents =
      collections.get(collection) ?? new Map(rows().map(({ id, value }) => [id, parse(value)]));
    collections.set(collection, documents);
    return documents;
  }

  function toChange(collection: string): Map<string, unknown> {
    changed.add(collection);
    return documentsOf(collection);
  }

  return {
    get: <T>(collection: string, id: string) => documentsOf(collection).get(id) as T | undefined,
    put(collection: string, id: string, value: unknown): void {
      const text = JSON.stringify(value);
      const documents = toChange(collection);
      put.run(collection, id, text);
      documents.set(id, parse(text));
    },
    delete(collection: string, id: string): void {
      const documents = toChange(collection);
      remove.run(collection, id);
      documents.delete(id);
    },
    /** In the order of their first insertion. */
    list: <T>(collection: string) => [...documentsOf(collection).values()] as T[],
    /** Runs a transaction; a nested one joins the outer one. */
    transaction<T>(work: () => T): T {
      if (database.inTransaction) return work();
      changed.clear();
      try {
        return database.transaction(work)();
      } catch (error) {
        for (const collection of changed) collections.delete(collection);
        throw error;
      }
    },
    close: () => void database.close(),
  };
}

/** A frozen value, since every reader gets the same one. */
const parse = (text: string) => freeze(JSON.parse(text));

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
