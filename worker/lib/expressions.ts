import { SQL, type SQLChunk, type SQLWrapper } from 'drizzle-orm';
import { sql, sqlOf } from './sql-text.ts';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';

const comma = sql`, `;

export const list = (values: unknown[]): SQL =>
  sqlOf(values.flatMap((value, index) => (index === 0 ? [value] : [comma, value])) as SQLChunk[]);

export const coalesce = <T>(...values: unknown[]) => sql<T>`coalesce(${list(values)})`;

export const greatest = (...values: unknown[]) => sql<number>`max(${list(values)})`;

export const least = (...values: unknown[]) => sql<number>`min(${list(values)})`;

export const iif = <T>(condition: SQLWrapper | undefined, then: unknown, otherwise: unknown) =>
  sql<T>`iif(${condition}, ${then}, ${otherwise})`;

export const plus = (value: unknown, more: unknown) => sql<number>`(${value} + ${more})`;
export const times = (value: unknown, factor: unknown) => sql<number>`(${value} * ${factor})`;
export const minus = (value: unknown, less: unknown) => sql<number>`(${value} - ${less})`;

/** A flag is 1 or 0. */
export const columnFact = <T>(column: SQLiteColumn) => column.getSQL() as SQL<T>;

export const fixed = <T>(value: T) => sql<T>`${value}`;

/** 1 or 0, also for a condition over nulls. */
export const isTrue = (condition: SQL | undefined) => sql<number>`coalesce(${condition}, 0)`;

/** Equality for which two nulls are the same. */
export const isSame = (one: unknown, other: unknown) => sql<number>`${one} is ${other}`;

export const rowExists = (table: SQLiteTable, where: SQL | undefined) =>
  sql<number>`exists (select 1 from ${table} where ${where})`;

/** Null without a row. */
export const valueOf = <Column extends SQLiteColumn>(column: Column, where: SQL | undefined) =>
  sql<Column['_']['data'] | null>`(select ${column} from ${column.table} where ${where})`;

export const valuesOf = (column: SQLiteColumn, where: SQL | undefined) =>
  sql<string>`(select json_group_array(${column}) from ${column.table} where ${where})`;

export const inJson = <T>(json: SQLiteColumn | string, path: SQLiteColumn | string) =>
  sql<T>`(${json} ->> ${path})`;

export function jsonObject(values: Record<string, unknown>): SQL<string> {
  return sql`json_object(${list(Object.entries(values).flat())})`;
}

type Join = [table: SQLiteTable | SQL, on: SQL | undefined];

/** One row: of each table the row that fits, or nulls. */
export function oneRow(...joins: Join[]): SQL {
  const each = joins.map(([table, on]) => sql`left join ${table} on ${on}`);
  return sql`(select 1) ${sql.join(each, sql` `)}`;
}
