import { expect, it } from 'vitest';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { costOf } from './support/sandbox.ts';

const day = 86_400_000;

type Perishable = [table: string, key: string, keptMs: number, row: (n: number, at: number) => (string | number)[]];

/** Each table whose rows end: its key, how long (ms) they are kept, and a row by its number and its instant. */
const perishable: Perishable[] = [
  ['codes', 'phone', 0, (n, at) => [`+swept${n}`, 'mac', 'by', at, 5, '', '']],
  ['rate_limit_events', 'subject', day, (n, at) => [`swept:${n}`, at, 'by']],
  ['bot_calls', 'id', 7 * day, (n, at) => [`swept_${n}`, 'fingerprint', 'by', at, '{}']],
  ['stripe_events', 'id', 30 * day, (n, at) => [`swept_${n}`, 'type', 'by', at]],
  ['sessions', 'id', 30 * day, (n, at) => [`swept_${n}`, 'nobody', at, at + 30 * day, at]],
  ['used_tokens', 'id', 0, (n, at) => [`swept_${n}`, 'by', at]],
  ['trial_links', 'mac', 0, (n, at) => [`swept_${n}`, 'nobody', 'mac', 'basic', 1, at, '']],
];

/** Inserts rows before all others, since older rows precede newer ones. */
async function put(table: string, rows: (string | number)[][]): Promise<void> {
  const [first] = (await database.execute(`select coalesce(min(rowid), 0) as rowid from ${table}`)).rows;
  const before = Number(first!.rowid) - rows.length;
  const { columns } = await database.execute(`select * from ${table} limit 0`);
  const sql = `insert into ${table} (rowid, ${columns.join(', ')}) values (?, ${columns.map(() => '?').join(', ')})`;
  await database.batch(
    rows.map((row, index) => ({ sql, args: [before + index, ...row] })),
    'write',
  );
}

async function left(table: string, key: string): Promise<number> {
  const { rows } = await database.execute(`select count(*) as rows from ${table} where ${key} like '%swept%'`);
  return Number(rows[0]!.rows);
}

const countOf = (most: number) => Array.from({ length: most }, (_, index) => index);

it.each(perishable)('deletes the expired rows of %s, and no others', async (table, key, keptMs, row) => {
  const end = Date.now() - keptMs;
  await put(table, [row(1, end - 60_000), row(2, end - 1000), row(3, end + 60_000)]);
  await runCron();
  expect(await left(table, key)).toBe(1);
  await database.execute(`delete from ${table} where rowid in (select min(rowid) from ${table})`);
  expect(await left(table, key)).toBe(0);
});

it.each(perishable)('deletes thousands of rows of %s in a minute, in batches', async (table, key, keptMs, row) => {
  const longAgo = Date.now() - keptMs - day;
  await put(
    table,
    countOf(3000).map((n) => row(n, longAgo + n)),
  );
  const { stats } = await costOf(() => runCron());
  expect(await left(table, key)).toBe(0);
  expect(stats.libsql).toBeGreaterThan(5);
});
