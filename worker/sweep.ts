import { sql } from 'drizzle-orm';
import { hitsKeptMs } from './auth/limits.ts';
import type { Database } from './db.ts';

const dayMs = 86_400_000;
const stepSize = 500;

/** What has an end: the table, its key, the instant that decides, and how long rows outlive it. */
const perishable = [
  ['codes', 'phone', 'expires_at', 0],
  ['hits', 'rowid', 'at', hitsKeptMs],
  ['bot_calls', 'id', 'at', 7 * dayMs],
  ['stripe_events', 'id', 'at', 30 * dayMs],
  ['sessions', 'id', 'expires_at', 0],
  ['burnt_tokens', 'id', 'expires_at', 0],
  ['trial_links', 'mac', 'expires_at', 0],
] as const;

/** Removes what has served its time, a bounded step at a time: one round trip. */
export async function sweep(db: Database, now: number): Promise<void> {
  const [first, ...rest] = perishable.map(([table, key, column, keptMs]) => {
    const names = [key, table, column].map((name) => sql.raw(name)) as [SQLName, SQLName, SQLName];
    return db.run(sql`delete from ${names[1]} where ${names[0]} in
      (select ${names[0]} from ${names[1]} where ${names[2]} < ${now - keptMs} limit ${sql.raw(String(stepSize))})`);
  });
  await db.batch([first!, ...rest]);
}

type SQLName = ReturnType<typeof sql.raw>;
