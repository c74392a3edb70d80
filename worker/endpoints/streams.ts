import { signToken, ticketLifetimeSeconds } from '../sign-in/session-token.ts';
import type { Handler } from '../http/request-context.ts';
import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import { ChannelSocket } from '../usage/channel-socket.ts';
import { profileOf } from '../usage/profile.ts';
import { currentCount } from '../usage/week.ts';
import { longestStreamMs, usageStream as openUsageStream } from '../usage/usage-stream.ts';
import { chatStream as openChatStream } from '../chat/chat-stream.ts';
import { keyOfEpoch } from '../chat/chat-encryption.ts';
import { conversationOf } from '../chat/chat-user.ts';
import type { ConversationEvent } from '../live/message-table.ts';
import { ObjectSocket } from '../live/live-socket.ts';
import { RequestError } from '../lib/request-error.ts';

export const streamTicket: Handler<'streamTicket'> = async ({ session, settings, now }) =>
  session.run([], async (user) => {
    const claims = { userId: user.id, sessionId: session.sessionId };
    const expiresAt = Math.floor(now / 1000) + ticketLifetimeSeconds;
    const ticket = await signToken(settings.SESSION_KEYS, 'stream+jwt', claims, expiresAt);
    return { success: true, ticket, expiresIn: ticketLifetimeSeconds };
  });

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

/** Joins the conversation before it checks the session, so that no change and no end of the session is missed. */
export const chatStream: Handler<'chatStream'> = async ({ session, db, env, settings, request }) => {
  const query = new URLSearchParams(afterOf(request));
  const conversation = conversationOf(env, session.claimedUserId);
  const socket = await ObjectSocket.join<ConversationEvent>(conversation, query);
  if (!socket) throw new RequestError('unavailable', { retryAfter: 1 });
  try {
    return await session.run([], async (user) => {
      const read = () => db.select().from(users).where(eq(users.id, user.id));
      const keyOf = await keyOfEpoch(settings, user, async () => (await read())[0] ?? null);
      const { sessionId, expiresAt } = session;
      socket.send(JSON.stringify({ userId: user.id, sessionId }));
      return openChatStream({ userId: user.id, socket, keyOf, signal: request.signal, expiresAt });
    });
  } catch (error) {
    socket.close();
    throw error;
  }
};

/** The revision after which changes are missing: the greater one of the header and the query. */
function afterOf(request: Request): { after?: string } {
  const given = [new URL(request.url).searchParams.get('after'), request.headers.get('last-event-id')];
  const revisions = given.flatMap((each) => (each !== null && /^\d{1,15}$/.test(each) ? [Number(each)] : []));
  return revisions.length > 0 ? { after: String(Math.max(...revisions)) } : {};
}
