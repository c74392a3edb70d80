import { sql } from 'drizzle-orm';
import type { Handler } from '../http/call.ts';
import { FeedSocket } from '../usage/feed-socket.ts';
import { currentCount } from '../usage/profile.ts';
import { longestStreamMs, usageStream as openStream } from '../usage/stream.ts';

/**
 * Joins the feed before it reads the total, so that no change can fall between the two; the same transaction notes
 * that somebody watches, since messages of a user who does not watch wake no object.
 */
export const usageStream: Handler<'usageStream'> = async ({ caller, db, env, now, request }) => {
  const socket = await FeedSocket.join(env, caller.claimedUserId);
  try {
    const watched = sql`update users set watched_until = ${now + longestStreamMs} where id = ${caller.userId}`;
    const [user] = await caller.load(db.run(watched));
    const total = { seq: user.usageSeq, ...currentCount(user, now) };
    const body = openStream({ socket, sessionId: caller.sessionId, total, signal: request.signal });
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  } catch (error) {
    socket.close();
    throw error;
  }
};
