import { sql } from 'drizzle-orm';
import type { Database } from '../db.ts';
import { tellBot } from '../messaging/outbox.ts';

const batchSize = 200;

/**
 * Tells of trials that the clock has ended; the allowance has followed the clock already. Returns the users whose open
 * streams should hear of it.
 */
export async function endTrials(db: Database, now: number): Promise<string[]> {
  const ended = sql`(select id from users where trial_ends_at <= ${now} order by trial_ends_at limit ${sql.raw(String(batchSize))})`;
  const [, rows] = await db.batch([
    db.run(tellBot('plan.changed', now, sql`phone`, sql`'tier', tier`, sql`from users where id in ${ended}`)),
    db.all<{ id: string }>(
      sql`update users set trial_tier = null, trial_ends_at = null where id in ${ended} returning id`,
    ),
  ]);
  return rows.map(({ id }) => id);
}
