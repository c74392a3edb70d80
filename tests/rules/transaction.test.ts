import { createClient } from '@libsql/client/sqlite3';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { decisions } from '../../drizzle/schema.ts';
import type { Traffic } from '../../worker/lib/database.ts';
import { botTransaction } from '../../worker/bot/bot-transaction.ts';
import { transaction } from '../../worker/lib/transaction.ts';

const coins = sqliteTable('coins', {
  owner: text('owner').primaryKey(),
  count: integer('count').notNull(),
  isGold: integer('is_gold', { mode: 'boolean' }).notNull().default(false),
});

const nowhere = sqliteTable('nowhere', { id: integer('id') });

const client = createClient({ url: ':memory:' });
const traffic: Traffic = { requests: 0, unreachable: false };
const db = Object.assign(drizzle(client), { traffic });
afterAll(() => client.close());

beforeEach(async () => {
  await client.executeMultiple(`
    drop table if exists coins;
    drop table if exists decisions;
    create table coins (owner text primary key, count integer not null, is_gold integer not null default 0);
    create table decisions (id integer primary key, outcome text not null, facts text not null);
    insert into coins values ('one', 5, 0), ('two', 0, 0);`);
});

const countOf = (owner: string) => sql<number>`(select count from coins where owner = ${owner})`;

/** One person gives another one some coins, if there are enough. */
function gift(from: string, to: string, count: number) {
  const tx = transaction(db, {
    facts: {
      held: countOf(from),
      theirs: sql<number | null>`${countOf(to)}`,
    },
    outcomes: ({ held, theirs }) => ({
      nobody: sql`${held} is null`,
      poor: sql`${held} < ${count}`,
      first: sql`${theirs} is null`,
      given: sql`${held} = 1000`,
      rich: sql`${held} > 1000`,
    }),
    otherwise: 'given',
  });
  tx.update(
    ['given', 'first'],
    coins,
    { count: sql`${coins.count} - ${count}` },
    eq(coins.owner, from),
  );
  tx.insert(
    ['given', 'first'],
    coins,
    { owner: to, count, isGold: true },
    {
      upsert: {
        target: [coins.owner],
        set: { count: sql`${coins.count} + ${count}` },
      },
    },
  );
  return tx;
}

const all = async () => (await db.select().from(coins)).map(({ owner, count }) => [owner, count]);

describe('a transaction', () => {
  it.each<[string, ReturnType<typeof gift>, unknown[], unknown[]]>([
    [
      'the first condition that holds',
      gift('nobody', 'two', 9),
      ['nobody', { held: null, theirs: 0 }],
      [
        ['one', 5],
        ['two', 0],
      ],
    ],
    [
      'another one',
      gift('one', 'new', 9),
      ['poor', { held: 5, theirs: null }],
      [
        ['one', 5],
        ['two', 0],
      ],
    ],
    [
      'the last one listed',
      gift('one', 'new', 2),
      ['first', { held: 5, theirs: null }],
      [
        ['one', 3],
        ['two', 0],
        ['new', 2],
      ],
    ],
    [
      'what is left',
      gift('one', 'two', 2),
      ['given', { held: 5, theirs: 0 }],
      [
        ['one', 3],
        ['two', 2],
      ],
    ],
  ])('decides by %s, and writes its effects alone', async (_, tx, decided, rows) => {
    const { outcome, facts } = await tx.run();
    expect([outcome, facts]).toEqual(decided);
    expect(await all()).toEqual(rows);
    expect(await db.select().from(decisions)).toEqual([]);
    expect(traffic.outcome).toBe(outcome);
  });

  it('decides by what was there before its first effect, and reads what is there after its last one', async () => {
    const tx = gift('one', 'two', 5);
    const { outcome, reads } = await tx.run({
      left: db.select().from(coins).where(eq(coins.owner, 'one')),
    });
    expect(outcome).toBe('given');
    expect(reads.left).toEqual([
      {
        owner: 'one',
        count: 0,
        isGold: false,
      },
    ]);
  });

  it('lets its effects use the facts, delete, insert for each row of a list, and pass by what is there', async () => {
    const tx = transaction(db, {
      facts: { held: countOf('one') },
      outcomes: () => ({}),
      otherwise: 'done',
    });
    tx.insert(
      ['done'],
      coins,
      { owner: sql`name.value`, count: tx.fact('held') },
      {
        from: sql`json_each('["two", "three"]') as name`,
        upsert: 'ignore',
      },
    );
    tx.delete(['done'], coins, eq(coins.owner, 'one'));
    await tx.run();
    expect(await all()).toEqual([
      ['two', 0],
      ['three', 5],
    ]);
  });

  it('lets one of many that run at once win', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => gift('one', 'two', 2).run()),
    );
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array(2).fill('given'),
      ...Array(6).fill('poor'),
    ]);
  });

  it('writes nothing if one of its statements fails', async () => {
    const tx = gift('one', 'two', 1);
    tx.insert(['given'], nowhere, { id: 1 });
    await expect(tx.run()).rejects.toThrow();
    expect(await all()).toEqual([
      ['one', 5],
      ['two', 0],
    ]);
  });

  it('runs once', async () => {
    const tx = gift('one', 'two', 1);
    await tx.run();
    await expect(tx.run()).rejects.toThrow('A transaction runs once');
  });

  it('does not compile with an outcome that it does not have, an effect without one, or a fact that it did not read', () => {
    const tx = gift('one', 'two', 1);
    // @ts-expect-error: the outcome is unknown.
    tx.delete(['stolen'], coins, sql`true`);
    // @ts-expect-error: the effect names no outcome.
    tx.delete([], coins, sql`true`);
    // @ts-expect-error: nobody has read this fact.
    expect(() => tx.fact('price')).not.toThrow();
    const decide = (): Promise<{ outcome: 'given' | 'poor' | 'nobody' | 'first' | 'rich' }> =>
      tx.run();
    // @ts-expect-error: the decision has an outcome more.
    const incomplete = (): Promise<{ outcome: 'given' | 'poor' }> => tx.run();
    expect([decide, incomplete]).toHaveLength(2);
  });
});

describe('a call of the bot that decides twice', () => {
  const botCall = {
    id: 'one',
    storedIds: async () => ['one'],
    fingerprint: async () => 'same',
    earlierFingerprints: async () => [],
  };
  const call = { db, botCall, now: 1 };

  beforeEach(async () => {
    await client.executeMultiple(`
      drop table if exists bot_calls;
      create table bot_calls (id text primary key, fingerprint text not null, by text not null,
        at integer not null, facts text not null, outcome text not null);`);
  });

  const first = () =>
    botTransaction(call, {
      facts: { held: countOf('one') },
      outcomes: ({ held }) => ({ unknown: sql`${held} > 0` }),
      otherwise: 'known',
      unstored: ['unknown'],
      others: ['made'],
    });
  const second = () =>
    botTransaction(call, {
      facts: { price: sql<number>`7` },
      outcomes: () => ({}),
      otherwise: 'made',
      unstored: [],
    });

  it('finds the later outcome when it is repeated, with no facts that are not its own', async () => {
    const unknown = await (await first()).apply();
    expect(unknown).toMatchObject({
      outcome: 'unknown',
      facts: { held: 5 },
      isFirst: true,
    });
    const made = await (await second()).apply();
    expect(made).toMatchObject({
      outcome: 'made',
      facts: { price: 7 },
      isFirst: true,
    });

    const again = await (await first()).apply();
    expect(again).toMatchObject({
      outcome: 'made',
      facts: null,
      isFirst: false,
      by: made.by,
    });
    expect(await (await second()).apply()).toMatchObject({
      ...made,
      isFirst: false,
    });
    // @ts-expect-error: the facts may be another transaction's.
    expect(() => again.facts.held).toThrow();
    if (again.outcome === 'known') expect(again.facts.held).toBeDefined();
  });
});
