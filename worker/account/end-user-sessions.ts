import { and, eq } from 'drizzle-orm';
import { sessions } from '#db/schema';
import type { EnvScope } from '../env.ts';
import { endStreams, expectEnd } from '../live/publish.ts';
import { deleteEndedSubscriptionsSql } from '../push/reply-notices.ts';

/** Of one session, or of all (null). Returns how many there were. */
export async function endUserSessions(
  scope: EnvScope,
  userId: string,
  sessionId: string | null,
): Promise<number> {
  const { db } = scope;
  const own = eq(sessions.userId, userId);
  const ended = sessionId === null ? own : and(own, eq(sessions.id, sessionId));

  expectEnd(scope, userId);
  const [{ rowsAffected }] = await db.batch([
    db.delete(sessions).where(ended),
    db.run(deleteEndedSubscriptionsSql(userId)),
  ]);
  if (rowsAffected > 0) endStreams(scope, userId, sessionId);
  return rowsAffected;
}
