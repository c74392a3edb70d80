// oxlint-disable typescript/no-unnecessary-type-parameters -- whoever reads a document names its type
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

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

/** Opens the store's file, or ':memory:'. */
export function openStore(file: string): Store & { close(): void } {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file);
  database.exec(schema);
  const get = database.prepare('SELECT value FROM documents WHERE collection = ? AND id = ?');
  const put = database.prepare(
    'INSERT INTO documents (collection, id, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ?');
  const list = database.prepare('SELECT value FROM documents WHERE collection = ? ORDER BY seq');

  return {
    get: <T>(collection: string, id: string) => parse<T>(get.get(collection, id)),
    put: (collection, id, value) => void put.run(collection, id, JSON.stringify(value)),
    delete: (collection, id) => void remove.run(collection, id),
    list: <T>(collection: string) => list.all(collection).map((row) => parse<T>(row) as T),
    clear: () => void database.exec('DELETE FROM documents'),
    transaction: <T>(work: () => T) => (database.inTransaction ? work() : database.transaction(work)()),
    close: () => void database.close(),
  };
}

function parse<T>(row: unknown): T | undefined {
  return row === undefined ? undefined : (JSON.parse((row as { value: string }).value) as T);
}
