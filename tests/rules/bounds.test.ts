import { readFileSync } from 'node:fs';
import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import * as schema from '../../drizzle/schema.ts';
import { endpoints } from '../../worker/contract/endpoints.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The rows of a section of worker/docs/bounds.md: what is named, what grows, and its bound. */
function rowsOf(section: string): string[][] {
  const text = read('worker/docs/bounds.md').split(`\n## ${section}\n`)[1]!.split('\n## ')[0]!;
  const rows = text.match(/^\| `.*\|$/gm)!;
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

const namedIn = (section: string) => rowsOf(section).map(([name]) => name!.replaceAll('`', ''));

it('each call has one line about what grows by it', () => {
  const calls = Object.values(endpoints).map(({ method, path }) => `${method} ${path}`);
  expect(namedIn('Calls').toSorted()).toEqual(calls.toSorted());
});

it('each table has one line, those of a live object too', () => {
  const ofDatabase = Object.values<unknown>(schema)
    .filter((each) => is(each, SQLiteTable))
    .map((table) => getTableName(table));
  const created = read('worker/live/conversation-tables.ts').matchAll(/create table (\w+)/g);
  const ofObject = [...created].map(([, name]) => name!);
  expect(namedIn('Tables').toSorted()).toEqual([...ofDatabase, ...ofObject].toSorted());
});

it.each(['Calls', 'Tables'])('%s: no bound is left out', (section) => {
  for (const row of rowsOf(section)) {
    expect(row, row[0]).toHaveLength(3);
    for (const cell of row) expect(cell.length, row[0]).toBeGreaterThan(2);
  }
});
