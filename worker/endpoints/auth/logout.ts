import { and, eq } from 'drizzle-orm';
import { sessions } from '#db/schema';
import type { Handler } from '../../http/handler.ts';
import { endStreams, expectEnd } from '../../usage/publish.ts';

export const logout: Handler<'logout'> = async (context) => {
  const { session, input, db } = context;
  const sessionId = input.everywhere ? null : session.sessionId;
  const own = eq(sessions.userId, session.userId);
  const ending = db.delete(sessions).where(sessionId ? and(own, eq(sessions.id, sessionId)) : own);
  expectEnd(context, session.claimedUserId);
  return session.run([ending], (user) => {
    endStreams(context, user.id, sessionId);
    return { success: true };
  });
};
