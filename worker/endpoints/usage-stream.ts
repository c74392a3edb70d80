import type { Handler } from '../http/call.ts';
import { FeedSocket } from '../usage/feed-socket.ts';
import { currentCount } from '../usage/profile.ts';
import { usageStream as openStream } from '../usage/stream.ts';

/** Joins the feed before it reads the total, so that no change can fall between the two. */
export const usageStream: Handler<'usageStream'> = async ({ caller, env, now, request }) => {
  const socket = await FeedSocket.join(env, caller.claimedUserId);
  try {
    const [user] = await caller.load();
    const total = { seq: user.usageSeq, ...currentCount(user, now) };
    const body = openStream({ socket, sessionId: caller.sessionId, total, signal: request.signal });
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  } catch (error) {
    socket.close();
    throw error;
  }
};
