import { and, eq, gt } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import type { Database } from '../lib/database.ts';

/** The ids of a user's sessions that may have open streams. */
export async function liveSessions(db: Database, userId: string, now: number): Promise<Set<string>> {
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now), eq(users.status, 'approved')));
  return new Set(rows.map(({ id }) => id));
}
