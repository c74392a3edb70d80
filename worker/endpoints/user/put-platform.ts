import { and, eq, lte, ne, sql } from 'drizzle-orm';
import { users } from '#db/schema';
import type { Handler } from '../../http/handler.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import { insertBotEvent } from '../../bot/outbox.ts';

/** The time of the request is the version of the choice, so a late write never overwrites a newer choice. */
export const putPlatform: Handler<'putPlatform'> = async ({ session, input, db, settings, now, waitUntil }) => {
  const { platform } = input;
  const newest = and(eq(users.id, session.userId), lte(users.platformChosenAt, now));
  const changing = sql`from ${users} where ${and(newest, ne(users.platform, platform))}`;
  const statements = [
    db.run(
      insertBotEvent(settings, 'platform.changed', now, sql`${users.phone}`, sql`'platform', ${platform}`, changing),
    ),
    db.update(users).set({ platform, platformChosenAt: now }).where(newest),
  ] as const;
  return session.run([...statements], (before) => {
    if (before.platformChosenAt > now) return { success: true, platform: before.platform };
    if (before.platform !== platform) waitUntil(deliverSoon(db, settings, before.phone));
    return { success: true, platform };
  });
};
