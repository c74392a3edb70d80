import { and, eq, lte, sql } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { hourMs } from '../lib/time.ts';

/** The precision (ms) of `lastSeenAt`: a session writes it at most this often. */
export const seenEveryMs = hourMs;

type Session = { sessionId: string; claimedUserId: string };

/** Records that a session was used; of concurrent calls, one writes. */
export async function recordSeen(db: Database, { sessionId, claimedUserId }: Session, now: number): Promise<void> {
  const due = and(
    eq(sessions.id, sessionId),
    eq(sessions.userId, claimedUserId),
    lte(sessions.lastSeenAt, now - seenEveryMs),
  );
  await db.batch([
    db
      .update(users)
      .set({ lastSeenAt: now })
      .where(and(eq(users.id, claimedUserId), sql`exists (select 1 from ${sessions} where ${due})`)),
    db.update(sessions).set({ lastSeenAt: now }).where(due),
  ]);
}
