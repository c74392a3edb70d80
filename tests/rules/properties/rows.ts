import Libsql from 'libsql';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { memoize } from '../../../worker/lib/memoize.ts';

const dialect = new SQLiteSyncDialect();

type Row = Record<string, unknown>;

/** An empty database in memory that runs the product's own SQL, parameters bound as the Worker binds them. */
export function openRows(schema: string) {
  const database = new Libsql(':memory:');
  database.exec(schema);
  const prepared = memoize((text: string) => database.prepare(text));
  return {
    exec: (text: string) => void database.exec(text),
    /** The first row of a statement; undefined where it has none. */
    row<Found extends Row>(statement: SQL): Found | undefined {
      const { sql, params } = dialect.sqlToQuery(statement);
      const found = prepared(sql).get(...params) as (Found & { _metadata?: unknown }) | undefined;
      delete found?._metadata;
      return found;
    },
    run(statement: SQL): void {
      const { sql, params } = dialect.sqlToQuery(statement);
      prepared(sql).run(...params);
    },
  };
}
