import { sql } from 'drizzle-orm';
import type { Database } from './db.ts';

const dayMs = 86_400_000;
const stepSize = sql.raw('500');

/** Removes what has served its time, a bounded step at a time: one round trip. */
export async function sweep(db: Database, now: number): Promise<void> {
  const keptFor = { hits: dayMs, botCalls: 7 * dayMs };
  await db.batch([
    db.run(sql`delete from codes where phone in (select phone from codes where expires_at < ${now} limit ${stepSize})`),
    db.run(
      sql`delete from hits where rowid in (select rowid from hits where at < ${now - keptFor.hits} limit ${stepSize})`,
    ),
    db.run(
      sql`delete from bot_calls where id in (select id from bot_calls where at < ${now - keptFor.botCalls} limit ${stepSize})`,
    ),
    db.run(sql`delete from sessions where id in (select id from sessions where expires_at < ${now} limit ${stepSize})`),
    db.run(
      sql`delete from burnt_tokens where id in (select id from burnt_tokens where expires_at < ${now} limit ${stepSize})`,
    ),
    db.run(
      sql`delete from trial_links where mac in (select mac from trial_links where expires_at < ${now} limit ${stepSize})`,
    ),
  ]);
}
