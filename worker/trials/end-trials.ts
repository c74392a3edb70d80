import { sql } from 'drizzle-orm';
import { users } from '#db/schema';
import type { Settings } from '../settings.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';

const batchSize = 200;

/**
 * Ends expired trials and queues their events for the bot; the allowance depends on the clock alone. Returns the users
 * whose open streams need a message.
 */
export async function endTrials(db: Database, settings: Settings, now: number): Promise<string[]> {
  const ended = sql`(select ${users.id} from ${users} where ${users.trialEndsAt} <= ${now}
    order by ${users.trialEndsAt} limit ${sql.raw(String(batchSize))})`;
  const theirs = sql`${users.id} in ${ended}`;
  const event = insertBotEvent(
    settings,
    'plan.changed',
    now,
    sql`phone`,
    sql`'tier', tier`,
    sql`from ${users} where ${theirs}`,
  );
  const [, rows] = await db.batch([
    db.run(event),
    db.update(users).set({ trialTier: null, trialEndsAt: null }).where(theirs).returning({ id: users.id }),
  ]);
  return rows.map(({ id }) => id);
}
