import { and, eq, exists, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import { alias, QueryBuilder, SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { codes, sessions, users } from '../../drizzle/schema.ts';
import { insertSelect } from '../../worker/lib/sql.ts';
import { FastDialect, sql as ownSql } from '../../worker/lib/sql-text.ts';

const others = alias(users, 'others');
const build = new QueryBuilder();
const own = build.select({ id: sessions.id }).from(sessions).where(eq(sessions.userId, 'one'));
const live = build.$with('live').as(own);
const session = {
  id: 'a',
  userId: sql`lower(${'B'})`,
  createdAt: 1,
  expiresAt: 2,
  lastSeenAt: 3,
};

const statements: [name: string, statement: SQL][] = [
  ['values of each kind', sql`select ${'text'}, ${1}, ${null}, ${true}, ${['a', 2]}, ${undefined}`],
  ['names', sql`select ${users}.*, ${users.id} as ${sql.identifier('a "b"')} from ${users}`],
  ['a column that stores a boolean', eq(sessions.isLimited, true)],
  [
    'an inserted boolean',
    insertSelect(sessions, {
      ...session,
      isLimited: false,
    }),
  ],
  ['a null of a column', sql`${sql.param(null, users.tier)}`],
  ['nested conditions', and(inArray(codes.mac, ['a', 'b']), isNull(users.chatKey), exists(own))!],
  ['a query inside', sql`select ${own} as n, ${others.id} from ${others}`],
  ['a table expression', build.with(live).select().from(live).getSQL()],
  ['raw text', sql.join([sql.raw('select 1'), sql.empty()], sql`, `)],
  ['our template', ownSql`select ${users.id}, ${1} from ${users} where ${eq(users.id, 'a')}`],
  ['a value to come', sql`select ${sql.placeholder('later')}`],
];

describe('the text of a statement', () => {
  const [ours, theirs] = [new FastDialect(), new SQLiteAsyncDialect()];

  it.each(statements)("is drizzle's own: %s", (_, statement) => {
    const { sql: text, params } = theirs.sqlToQuery(statement);
    expect(ours.sqlToQuery(statement)).toEqual({ sql: text, params });
    // Names are known from the first time on.
    expect(ours.sqlToQuery(statement)).toEqual({ sql: text, params });
  });
});
