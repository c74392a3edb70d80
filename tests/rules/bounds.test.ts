import { readFileSync } from 'node:fs';
import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import * as schema from '../../drizzle/schema.ts';
import { endpoints } from '../../worker/contract/endpoints.ts';
import { SettingRules } from '../../worker/setting-rules.ts';
import { calls, tables } from './bounds.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('each call has one line about what grows by it', () => {
  const all = Object.values(endpoints).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(calls).toSorted()).toEqual(all.toSorted());
});

it('each table has one line, those of a live object too', () => {
  const ofDatabase = Object.values<unknown>(schema)
    .filter((each) => is(each, SQLiteTable))
    .map((table) => getTableName(table));
  const created = read('worker/live/conversation-tables.ts').matchAll(/create table (\w+)/g);
  const ofObject = [...created].map(([, name]) => name!);
  expect(Object.keys(tables).toSorted()).toEqual([...ofDatabase, ...ofObject].toSorted());
});

describe.each(
  Object.entries({
    ...calls,
    ...tables,
  }),
)('%s', (_, { grows, upTo }) => {
  const bounds = [upTo].flat();

  it('leaves no bound out', () => {
    expect(bounds).not.toEqual([]);
    for (const cell of [grows, ...bounds]) expect(cell.length).toBeGreaterThan(2);
  });

  it('names settings and limits that are there', () => {
    const known = [...Object.keys(SettingRules.entries), ...bindingsOf(read('wrangler.toml'))];
    const named = bounds.flatMap((bound) => bound.match(/\b[A-Z]+_[A-Z_]+/g) ?? []);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

function bindingsOf(text: string): string[] {
  return [...text.matchAll(/^name = "([A-Z_]+)"$/gm)].map(([, name]) => name!);
}
