import { and, desc, eq, gt } from 'drizzle-orm';
import { sessions } from '#db/schema';
import type { Handler } from '../../http/handler.ts';

export const getSessions: Handler<'getSessions'> = async ({ session, db, now }) => {
  const live = db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, session.userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
  return session.run([live], (_user, rows) => ({
    success: true,
    sessions: rows.map(({ id, createdAt, lastSeenAt }) => ({
      id,
      createdAt: new Date(createdAt).toISOString(),
      lastSeenAt: new Date(Math.max(createdAt, lastSeenAt)).toISOString(),
      current: id === session.sessionId,
    })),
  }));
};
