import { and, eq, lte, ne, sql, type SQL } from 'drizzle-orm';
import { users } from '#db/schema';
import { replaceBotEvent } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';

type Context = { db: Database; settings: Settings; now: number };
type Platform = (typeof users.$inferSelect)['platform'];

/**
 * The statements that store where a user talks with Solace and tell the bot. The time
 * of the request is the version of the choice, so a late write never overwrites a newer
 * choice.
 */
export function choosePlatform({ db, settings, now }: Context, userId: SQL, platform: Platform) {
  const newest = and(eq(users.id, userId), lte(users.platformChosenAt, now));
  const changing = sql`from ${users} where ${and(newest, ne(users.platform, platform))}`;
  const phone = sql`${users.phone}`;
  const data = sql`'platform', ${platform}`;
  const events = replaceBotEvent(settings, 'platform.changed', now, phone, data, changing);
  return [
    ...events.map((statement) => db.run(statement)),
    db.update(users).set({ platform, platformChosenAt: now }).where(newest),
  ];
}
