import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import type { Handler } from '../../http/handler.ts';
import { ChannelSocket } from '../../usage/channel-socket.ts';
import { currentCount, profileOf } from '../../usage/profile.ts';
import { longestStreamMs, usageStream as openUsageStream } from '../../usage/usage-stream.ts';

/**
 * Joins the channel before it reads the total, so that no change is lost in between. The same transaction records how
 * long a stream may be open, since a usage post skips the Durable Object if none can be open.
 */
export const usageStream: Handler<'usageStream'> = async ({ session, db, env, now, request }) => {
  const socket = await ChannelSocket.join(env, session.claimedUserId);
  try {
    const recordOpen = db
      .update(users)
      .set({ streamsOpenUntil: now + longestStreamMs })
      .where(eq(users.id, session.userId));
    return await session.run([recordOpen], (user) => {
      const { sessionId, expiresAt } = session;
      socket.admit({ userId: user.id, sessionId });
      const total = { seq: user.usageSeq, ...currentCount(user, now) };
      const profile = profileOf(user, now);
      const body = openUsageStream({ socket, sessionId, expiresAt, profile, total, signal: request.signal });
      return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
    });
  } catch (error) {
    socket.close();
    throw error;
  }
};
