import { getTableColumns, isSQLWrapper, sql, type Param, type SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql/web';
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core';

export const build = drizzle({ client: {} as never });

/**
 * SQL that inserts one row for each row of `from`,
 * for example `where …` for a row under a condition.
 */
export function insertSelect<Table extends SQLiteTable>(
  table: Table,
  values: SQLiteInsertValue<Table>,
  from: SQL = sql``,
): SQL {
  const entries = entriesOf(table, values);
  const names = entries.map(({ name }) => name);
  const selected = entries.map(({ value }) => sql`${value}`);
  return sql`insert into ${table} (${sql.join(names, sql`, `)}) select ${sql.join(selected, sql`, `)} ${from}`;
}

/** New values of columns. */
export type Changes<Table extends SQLiteTable> = Partial<SQLiteInsertValue<Table>>;

/**
 * What to do with a row whose `target` is taken:
 * change it, if `where` holds, or leave it.
 */
export type Upsert<Table extends SQLiteTable> =
  | { target: SQLiteColumn[]; set: Changes<Table>; where?: SQL }
  | 'ignore';

/**
 * SQL: an insertion of `insertSelect` that does not fail for a row that exists.
 */
export function upsertSelect<Table extends SQLiteTable>(
  insert: SQL,
  table: Table,
  upsert: Upsert<Table>,
): SQL {
  if (upsert === 'ignore') return sql`${insert} on conflict do nothing`;
  const { target, set, where } = upsert;
  const names = sql.join(target.map(nameOf), sql`, `);
  const changes = entriesOf(table, set).map(({ name, value }) => sql`${name} = ${value}`);
  const guard = where ? sql`where ${where}` : sql``;
  return sql`${insert} on conflict (${names}) do update set ${sql.join(changes, sql`, `)} ${guard}`;
}

function entriesOf(table: SQLiteTable, values: object): { name: SQL; value: SQL | Param }[] {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  return Object.entries(values).map(([key, value]) => {
    const column = columns[key]!;
    return {
      name: nameOf(column),
      value: isSQLWrapper(value) ? sql`${value}` : sql.param(value, column),
    };
  });
}

/**
 * SQL: whether a column has one of the values, which travel as one argument.
 */
export function isIn(column: SQLiteColumn | SQL, values: string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
}

export function excluded(column: SQLiteColumn): SQL {
  return sql`excluded.${nameOf(column)}`;
}

export function nameOf(column: SQLiteColumn): SQL {
  return sql`${sql.identifier(column.name)}`;
}
