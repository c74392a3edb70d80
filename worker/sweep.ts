import { sql, type SQL } from 'drizzle-orm';
import { hitsKeptMs } from './auth/limits.ts';
import type { Database } from './db.ts';

const dayMs = 86_400_000;
const rowsPerStep = 500;
/** Twenty thousand rows of a table each minute are more than ever come in one. */
const stepsPerSweep = 40;

/** Tables whose rows stand in the order of their end: the column that decides, and how long (ms) a row outlives it. */
const inOrder = [
  ['hits', 'at', hitsKeptMs],
  ['bot_calls', 'at', 7 * dayMs],
  ['stripe_events', 'at', 30 * dayMs],
  ['sessions', 'expires_at', 0],
] as const;

/** Tables whose rows end as each of them says, and their keys. */
const byExpiry = [
  ['codes', 'phone'],
  ['burnt_tokens', 'id'],
  ['trial_links', 'mac'],
] as const;

/** Removes what has served its time: a bounded step of each table in a round trip, until a step finds nothing. */
export async function sweep(db: Database, now: number): Promise<void> {
  const statements = [
    ...inOrder.map(([table, column, keptMs]) => oldest(table, column, now - keptMs)),
    ...byExpiry.map(([table, key]) => ended(table, key, now)),
  ];
  for (let step = 0; step < stepsPerSweep; step += 1) {
    const [first, ...rest] = statements.map((statement) => db.run(statement));
    const results = await db.batch([first!, ...rest]);
    if (results.every(({ rowsAffected }) => rowsAffected === 0)) return;
  }
}

/** Looks at the first rows of the table alone: an index of their age would be one more write for each of them. */
function oldest(table: string, column: string, before: number): SQL {
  const name = sql.raw(table);
  return sql`delete from ${name} where rowid < (select min(rowid) from ${name}) + ${rowsPerStep}
    and ${sql.raw(column)} < ${before}`;
}

function ended(table: string, key: string, now: number): SQL {
  const [name, id] = [sql.raw(table), sql.raw(key)];
  return sql`delete from ${name} where ${id} in
    (select ${id} from ${name} where expires_at < ${now} limit ${rowsPerStep})`;
}
