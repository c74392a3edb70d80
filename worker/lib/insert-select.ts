import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core';

/** SQL that inserts one row for each row of `from`, for example `where …` for a row under a condition. */
export function insertSelect<Table extends SQLiteTable>(
  table: Table,
  values: SQLiteInsertValue<Table>,
  from: SQL = sql``,
): SQL {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  const entries = Object.entries(values);
  const names = entries.map(([key]) => nameOf(columns[key]!));
  const selected = entries.map(([, value]) => sql`${value}`);
  return sql`insert into ${table} (${sql.join(names, sql`, `)}) select ${sql.join(selected, sql`, `)} ${from}`;
}

/** SQL: the value that an `insert` proposed, in its `on conflict` clause. */
export function excluded(column: SQLiteColumn): SQL {
  return sql`excluded.${nameOf(column)}`;
}

/** SQL: the column's name without its table, as `insert` and `set` want it. */
export function nameOf(column: SQLiteColumn): SQL {
  return sql`${sql.identifier(column.name)}`;
}
