import { and, eq } from 'drizzle-orm';
import { sessions } from '#db/schema';
import type { Handler } from '../../http/handler.ts';
import { RequestError } from '../../lib/request-error.ts';
import { endStreams, expectEnd } from '../../usage/publish.ts';

export const endSession: Handler<'endSession'> = async (context) => {
  const { session, params, db } = context;
  const ending = db.delete(sessions).where(and(eq(sessions.userId, session.userId), eq(sessions.id, params.id)));
  expectEnd(context, session.claimedUserId);
  return session.run([ending], (user, { rowsAffected }) => {
    if (rowsAffected === 0) throw new RequestError('notFound');
    endStreams(context, user.id, params.id);
    return { success: true };
  });
};
