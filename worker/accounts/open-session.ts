import { eq, sql, type SQL } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import { insertSelect, build, type Value } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { seenEveryMs } from './record-seen.ts';

export const sessionLifetimeMs = 30 * dayMs;

/** SQL that creates a session for the user that `from` finds in `users`, and records that the user was seen. */
export function openSession(sessionId: Value<string>, now: Value<number>, from: SQL): [SQL, SQL] {
  const expiresAt = sql<number>`${now} + ${sql.raw(String(sessionLifetimeMs))}`;
  const row = {
    id: sql`${sessionId}`,
    userId: sql`${users.id}`,
    createdAt: sql`${now}`,
    expiresAt,
    lastSeenAt: sql`${now}`,
  };
  const owner = build
    .select({ id: sessions.userId })
    .from(sessions)
    .where(eq(sessions.id, sql`${sessionId}`));
  const seen = build
    .update(users)
    .set({ lastSeenAt: sql`${now}` })
    .where(sql`${users.id} = (${owner}) and ${users.lastSeenAt} < ${now} - ${sql.raw(String(seenEveryMs))}`);
  return [insertSelect(sessions, row, from), seen.getSQL()];
}
