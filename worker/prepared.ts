import type { InValue } from '@libsql/client/web';
import { fillPlaceholders, is, Placeholder, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { drizzle } from 'drizzle-orm/libsql/web';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import type { Database } from './db.ts';

type Values = Record<string, unknown>;
type Query = { sql: string; params: unknown[] };
type Built = { getQuery: () => Query; mapResult: (result: unknown, isFromBatch?: boolean) => unknown };

/** A statement whose text is built once for the isolate: building it costs more than running it. */
export type Prepared = (values: Values) => { sql: string; args: InValue[] };

/** A value, or a `sql.placeholder` that each call of a prepared statement fills in. */
export type Value<T> = T | Placeholder<string, T>;

/** Builds queries; it has no database to run them on. */
export const build = drizzle({ client: {} as never });

const dialect = new SQLiteAsyncDialect();

/** Builds the text of a statement; its placeholders stay open. */
export function prepared(statement: SQL): Prepared {
  const { sql, params } = numbered(dialect.sqlToQuery(statement));
  return (values) => ({ sql, args: fillPlaceholders(params, values) as InValue[] });
}

/** Runs prepared statements as one transaction in one round trip; the rows of each, by their columns' names. */
export async function runPrepared(db: Database, statements: Prepared[], values: Values): Promise<unknown[][]> {
  const results = await db.$client.batch(statements.map((each) => each(values)));
  return results.map(({ rows }) => rows);
}

/** Builds the text of a query of drizzle, which maps its rows and stands in a `batch` beside statements of other kinds. */
export function preparedQuery<Query extends BatchItem<'sqlite'>>(query: Query): (values: Values) => Query {
  const built = (query as unknown as { _prepare: () => Built })._prepare();
  const { sql, params } = numbered(built.getQuery());
  return (values) => {
    const filled: Built = {
      getQuery: () => ({ sql, params: fillPlaceholders(params, values) }),
      mapResult: (result, isFromBatch) => built.mapResult(result, isFromBatch),
    };
    return { _prepare: () => filled } as unknown as Query;
  };
}

/** Each value travels once, however often it stands in the text. */
function numbered({ sql, params }: Query): Query {
  const distinct: unknown[] = [];
  const numbers = params.map((param) => {
    const known = distinct.findIndex((one) => same(one, param));
    return known < 0 ? distinct.push(param) : known + 1;
  });
  let next = 0;
  return { sql: sql.replaceAll('?', () => `?${numbers[next++]}`), params: distinct };
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (is(one, Placeholder) && is(other, Placeholder) && one.name === other.name);
}
