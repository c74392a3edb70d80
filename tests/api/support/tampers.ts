import { runInDurableObject } from 'cloudflare:test';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable, type SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { expect, vi } from 'vitest';
import * as schema from '../../../drizzle/schema.ts';
import { type Answer, botCall, call } from './api.ts';
import { subscribe } from './buying.ts';
import { newWriter, reply, write } from './chat.ts';
import { requestOtp } from './codes.ts';
import { contact, newBusinessUserId, newPhone } from './contacts.ts';
import { type Person, userOf } from './person.ts';
import { run, sandbox } from './sandbox.ts';
import { liveUserOf } from './streams.ts';

type Value = string | number | null;
export type Row = Record<string, Value> & { row_id: number };
export type Known = Person & {
  userId: string;
  businessUserId: string;
  texts: string[];
  /** A stranger's, which nobody reads. */
  address: string;
  trialToken: string;
};

/** The tables of which one row is changed, as by somebody who may write to the database. */
export const tables = Object.values<unknown>(schema).filter((each) => is(each, SQLiteTable));

const columnsOf = (table: SQLiteTable) =>
  Object.values<SQLiteColumn>(getTableColumns(table)).filter(
    (column) => column.dataType === 'string' && !column.enumValues?.length,
  );

/** What a column of words, or a flag, can hold; nothing for others. */
export function wordsOf({ dataType, enumValues, notNull }: SQLiteColumn): Value[] {
  const words: Value[] = dataType === 'boolean' ? [0, 1] : (enumValues ?? []);
  return words.length > 0 && !notNull ? [...words, null] : words;
}

/** Whether a value names somebody: by a name, by a keyed hash or key, or in a body. */
function names(value: Value | undefined, { phone, userId, businessUserId }: Names): boolean {
  const text = String(value);
  const isHash = /^[0-9a-f]{64}$|^[\w+/=-]{60,}$/.test(text);
  return isHash || [phone.slice(1), userId, businessUserId].some((name) => text.includes(name));
}

export async function rowsOf(table: SQLiteTable): Promise<Row[]> {
  const { rows } = await run(`select rowid as row_id, * from ${getTableName(table)}`);
  return rows.map((row) => ({ ...row })) as unknown as Row[];
}

let persons = 0;

/** Somebody about whom every table of the product has a row. */
async function newKnown(): Promise<Known> {
  persons += 1;
  const [mark, businessUserId] = [`person-${persons}-${crypto.randomUUID()}`, newBusinessUserId()];
  const person = await newWriter();
  const { phone, token } = person;
  await done(contact({ phone, businessUserId }));
  const texts = ['said', 'answered', 'waiting'].map((each) => `${each} by ${mark}`);
  await done(write(token, texts[0]!));
  await done(reply(phone, texts[1]!));
  const browser = await sandbox.newBrowser(phone);
  await done(call('PUT', '/api/user/push', { token, body: browser }));
  await done(subscribe(token, 'basic'));
  const { body } = await done(botCall('/api/bot/trials', { phone }));
  const trialToken = new URL(body.url).searchParams.get('token')!;
  await contact({ phone, businessUserId: newBusinessUserId() });

  await sandbox.faults({ bot: { status: 503 } });
  const stated = {
    name: `name of ${mark}`,
    contact: phone,
    email: `${mark}@example.com`,
  };
  await done(call('POST', '/api/withdrawals', { body: stated }));
  await done(write(token, texts[2]!));
  await done(requestOtp(phone));
  expect((await requestOtp(phone)).status).toBe(429);
  await done(
    call('POST', '/api/user/phone', {
      token,
      body: { phone: newPhone() },
    }),
  );
  texts.push(stated.name);
  const known = {
    userId: userOf(token),
    businessUserId,
    texts,
    address: stated.email,
  };
  return { ...person, ...known, trialToken };
}

export async function done(working: Promise<Answer>): Promise<Answer> {
  const answer = await working;
  expect(answer, answer.text).toMatchObject({ status: 200 });
  return answer;
}

/** The rows of the database that came with somebody. */
export async function stage() {
  const seen = async () =>
    new Map(await Promise.all(tables.map(async (table) => [table, await rowsOf(table)] as const)));
  const before = await seen();
  const victim = await newKnown();
  const between = await seen();
  const thief = await newKnown();
  const after = await seen();
  const added = (older: typeof before, newer: typeof before) => (table: SQLiteTable) => {
    const known = new Set(older.get(table)!.map(({ row_id: id }) => id));
    return newer.get(table)!.filter(({ row_id: id }) => !known.has(id));
  };
  return {
    victim: { ...victim, rows: added(before, between) },
    thief: { ...thief, rows: added(between, after) },
    sim: newSim(),
    heir: newHeir(victim),
  };
}

/** A second SIM of the thief, which has no account yet. An attack gives it one, so the next one needs another. */
export const newSim = () => ({
  phone: newPhone(),
  businessUserId: newBusinessUserId(),
  userId: crypto.randomUUID(),
});

/** The thief, to whom the contested number of somebody was given. */
export const newHeir = ({ phone }: Person) => ({
  phone,
  businessUserId: newBusinessUserId(),
});

export type Stage = Awaited<ReturnType<typeof stage>>;
type Tamper = {
  table: SQLiteTable;
  row: Row;
  column: SQLiteColumn;
  value: Value;
};

type Names = {
  phone: string;
  userId: string;
  businessUserId: string;
};

/** A value in which every name of one person is one of another. */
function renamed(value: Value, from: Names, to: Names): Value {
  return typeof value !== 'string'
    ? value
    : value
        .replaceAll(from.phone.slice(1), to.phone.slice(1))
        .replaceAll(from.userId, to.userId)
        .replaceAll(from.businessUserId, to.businessUserId);
}

export type Scope = 'exchanges' | 'renamings, too';

/**
 * Each column that differs between like rows of the two, with the value of the other one, in one row of each kind; where there
 * are no like rows also with one name alone replaced. The wider scope has both, in every row.
 */
function nameTampersOf(table: SQLiteTable, { victim, thief, sim }: Stage, scope: Scope): Tamper[] {
  const [theirs, own] = [victim.rows(table), thief.rows(table)];
  return columnsOf(table).flatMap((column) => {
    const seen = new Set<string>();
    const named = theirs.filter((row) => names(row[column.name], victim));
    const rows = scope === 'exchanges' ? firstOfEachKind(named) : named;
    return rows.flatMap((row) => {
      const like = own.find((each) => each['kind'] === row['kind'] && isLike(each, row));
      const exchanges: [Row, Value | undefined][] = like
        ? [
            [row, like[column.name]],
            [like, row[column.name]],
          ]
        : [];
      const renamings: [Row, Value | undefined][] = [
        [row, renamed(row[column.name]!, victim, sim)],
        [row, renamed(row[column.name]!, victim, thief)],
        ...(like ? [[like, renamed(like[column.name]!, thief, victim)] as [Row, Value]] : []),
      ];
      const isNarrow = like && scope === 'exchanges';
      const values = isNarrow ? exchanges : [...exchanges, ...renamings];
      return values.flatMap(([changed, value]) => {
        const key = JSON.stringify([changed.row_id, value]);
        if (value === undefined || value === changed[column.name] || seen.has(key)) return [];
        seen.add(key);
        return [{ table, row: changed, column, value }];
      });
    });
  });
}

/** Each word of each column of words, in a row of each kind of the victim, for the heir; the wider scope has all rows, for all. */
function wordTampersOf(table: SQLiteTable, { victim, thief }: Stage, scope: Scope): Tamper[] {
  const rows =
    scope === 'exchanges'
      ? firstOfEachKind(victim.rows(table))
      : [...victim.rows(table), ...thief.rows(table)];
  return Object.values<SQLiteColumn>(getTableColumns(table)).flatMap((column) =>
    rows.flatMap((row) => {
      const others = wordsOf(column).filter((value) => value !== row[column.name]);
      return others.map((value) => ({ table, row, column, value }));
    }),
  );
}

export const tampersOf = (...staged: Parameters<typeof nameTampersOf>) => [
  ...nameTampersOf(...staged),
  ...wordTampersOf(...staged),
];

function firstOfEachKind(rows: Row[]): Row[] {
  return [...Map.groupBy(rows, ({ kind }) => kind).values()].flatMap(([first]) => first ?? []);
}

/** Rows of the same table that say the same of two people: of one kind of event, of one challenge. */
function isLike(one: Row, other: Row): boolean {
  const typeOf = ({ body }: Row) => (typeof body === 'string' ? JSON.parse(body).type : null);
  if (typeOf(one) !== typeOf(other)) return false;
  return (one['challenge'] === '') === (other['challenge'] === '');
}

/**
 * Why the database refused the change; null if it took it. A unique value is taken from the thief's own row first: a thief can be somebody
 * who never had one.
 */
export async function apply(
  { table, row, column, value }: Tamper,
  { thief }: Stage,
): Promise<string | null> {
  const name = getTableName(table);
  const set = () =>
    run(
      `update ${name} set ${column.name} = ? where rowid = ?`,
      value as unknown as string,
      row.row_id,
    ).then(
      ({ rowsAffected }) => (rowsAffected > 0 ? null : 'The row is gone'),
      (error: Error) => error.message,
    );
  const refusal = await set();
  if (refusal === null) return null;
  const own = thief.rows(table).filter((each) => each['kind'] === row['kind'] && each !== row);
  if (own.length === 0 || thief.rows(table).includes(row) || name === 'users') return refusal;
  for (const each of own)
    await run(`delete from ${name} where rowid = ?`, each.row_id).catch(() => undefined);
  return set();
}

/** Whether a change must be refused: by a trigger, or since one of the two has the value, which only one may have. */
export function isExcused(refusal: string, { column, value }: Tamper, kept: Row[]): boolean {
  const byTrigger = /is never changed|stays with its account/.test(refusal);
  const isHeld = kept.some((row) => row[column.name] === value);
  return byTrigger || (refusal.includes('UNIQUE') && isHeld);
}

export async function putBack(table: SQLiteTable, rows: Row[]): Promise<void> {
  for (const row of rows) {
    const { row_id: rowid, ...columns } = row;
    const entries = Object.entries({ rowid, ...columns });
    const names = entries.map(([name]) => name).join(', ');
    const places = entries.map(() => '?').join(', ');
    const values = entries.map(([, value]) => value as unknown as string);
    await run(
      `insert or replace into ${getTableName(table)} (${names}) values (${places})`,
      ...values,
    ).catch(() => undefined);
  }
}

/** The events that wait are sent after each change, and the bot takes none that it knows: each attack needs its own. */
export async function waitAnew({ victim, thief }: Stage, round: number): Promise<void> {
  // The bot refuses events whose time is five minutes off, and each attack moves the clock by two.
  vi.useRealTimers();
  for (const { token, rows } of [victim, thief]) {
    const waiting = rows(schema.outbox);
    await putBack(
      schema.outbox,
      waiting.map((row) => ({ ...row, id: `${row['id']}_${round}` })),
    );
    await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      const sent = "update messages set state = 'sent' where id = ?";
      for (const row of waiting) if (row['message_id']) sql.exec(sent, row['message_id']);
    });
  }
}
