import {
  Column,
  Name,
  Param,
  sql as drizzleSql,
  SQL,
  StringChunk,
  Table,
  type Query,
  type SQLChunk,
} from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

/**
 * Drizzle's dialect, which compares each part of a statement with the
 * few kinds that most parts have. Drizzle's own way to the text asks for
 * up to twelve kinds by walking prototypes. Parts `g` and `h` of
 * tests/bench/README.md measure it with `verify-otp`.
 */
export class FastDialect extends SQLiteAsyncDialect {
  readonly #names = new WeakMap<Column | Table, string>();

  override sqlToQuery(statement: SQL): Query {
    const query: Query = { sql: '', params: [] };
    this.#add(query, statement);
    return query;
  }

  #add(query: Query, part: unknown): void {
    if (part === undefined) return;

    if (isPlain(part)) {
      query.sql += '?';
      query.params.push(part);
    } else if (part instanceof StringChunk) {
      for (const text of part.value) query.sql += text;
    } else if (part instanceof SQL) {
      for (const each of part.queryChunks) this.#add(query, each);
    } else if (part instanceof Column || part instanceof Table) {
      query.sql += this.#nameOf(part);
    } else if (part instanceof Name) {
      query.sql += this.escapeName(part.value);
    } else if (part instanceof Param && isPlain(part.value)) {
      this.#addValue(query, part);
    } else if (Array.isArray(part)) {
      this.#addList(query, part);
    } else {
      this.#addOther(query, part);
    }
  }

  #nameOf(named: Column | Table): string {
    const known = this.#names.get(named);
    if (known !== undefined) return known;

    const { sql } = super.sqlToQuery(new SQL([named]));
    this.#names.set(named, sql);
    return sql;
  }

  #addValue(query: Query, { value, encoder }: Param): void {
    this.#add(query, value === null ? null : encoder.mapToDriverValue(value));
  }

  #addList(query: Query, parts: unknown[]): void {
    query.sql += '(';
    for (const [index, part] of parts.entries()) {
      if (index > 0) query.sql += ', ';
      this.#add(query, part);
    }
    query.sql += ')';
  }

  #addOther(query: Query, part: unknown): void {
    const other = super.sqlToQuery(new SQL([part as never]));
    query.sql += other.sql;
    query.params.push(...other.params);
  }
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

/** Drizzle's constructor asks of each part whether it is a table. */
export function sqlOf<T>(parts: SQLChunk[]): SQL<T> {
  const made = new SQL<T>([]);
  made.queryChunks.push(...parts);
  return made;
}

function template<T>(texts: TemplateStringsArray, ...values: unknown[]): SQL<T> {
  const parts: SQLChunk[] = [new StringChunk(texts[0]!)];
  for (const [index, value] of values.entries())
    parts.push(value as SQLChunk, new StringChunk(texts[index + 1]!));
  return sqlOf(parts);
}

const { raw, join, empty, param, identifier, placeholder } = drizzleSql;

/** As drizzle's `sql`, which asks of each part of a template whether it is a table. */
export const sql = Object.assign(template, {
  raw,
  join,
  empty,
  param,
  identifier,
  placeholder,
});
