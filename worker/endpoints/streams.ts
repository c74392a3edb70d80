import { eq } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { keyOfEpoch } from '../chat/chat-keys.ts';
import { conversationEvents } from '../chat/conversation.ts';
import { countReferrals } from '../chat/referrals.ts';
import type { Handler, UserScope } from '../http/handlers.ts';
import { LiveSocket } from '../live/live-socket.ts';
import { liveStream, type ConversationEvents } from '../live/live-stream.ts';
import { EventStream, longestStreamMs } from '../live/server-sent-events.ts';
import { connectionEstablished } from '../contract/usage-stream.ts';
import { signToken, ticketLifetimeSeconds } from '../sign-in/session-token.ts';
import { profileOf } from '../usage/profile.ts';
import { currentCount } from '../usage/week.ts';

export const streamTicket: Handler<'streamTicket'> = async ({ session, settings, now }) =>
  session.run([], async ({ user }) => {
    const ref = { userId: user.id, sessionId: session.sessionId };
    const expiresAt = Math.floor(now / 1000) + ticketLifetimeSeconds;
    const ticket = await signToken(settings.SESSION_KEYS, 'stream+jwt', ref, expiresAt);
    return {
      success: true,
      ticket,
      expiresIn: ticketLifetimeSeconds,
    };
  });

export const usageStream: Handler<'usageStream'> = async (scope) =>
  openStream(scope, { usage: '' });

export const chatStream: Handler<'chatStream'> = async (scope) =>
  openStream(scope, afterOf(scope.request), async (user) => {
    const { db, settings } = scope;
    const readAgain = async () =>
      (await db.select().from(users).where(eq(users.id, user.id)))[0] ?? null;
    const keyOf = await keyOfEpoch(settings, user, readAgain);
    return conversationEvents(user.id, keyOf, (conversation, read) =>
      countReferrals(scope, { userId: user.id, ...conversation }, [read]),
    );
  });

/** For the doctor. It ends in place of its first beat. */
export const supportStream: Handler<'supportStream'> = async ({ request, now }) =>
  EventStream.response({
    signal: request.signal,
    expiresAt: now,
    opened: (stream) => stream.write(`event: ${connectionEstablished}\ndata: {}\n\n`),
    beat: () => undefined,
    dueAt: () => null,
    ended: () => undefined,
  });

/** Joins first, so that no change is lost. */
async function openStream(
  { session, db, env, now, request }: UserScope<'usageStream' | 'chatStream'>,
  query: Record<string, string>,
  eventsFor?: (user: User) => Promise<ConversationEvents>,
) {
  const { tokenUserId, sessionId } = session;
  const socket = await LiveSocket.join(env, { userId: tokenUserId, sessionId }, query);

  try {
    const recordOpen = db
      .update(users)
      .set({ streamsOpenUntil: now + longestStreamMs })
      .where(eq(users.id, session.admittedUserSql()));
    return await session.run([recordOpen], async ({ user, expiresAt }) => {
      const events = await eventsFor?.(user);
      socket.admit();

      const total = { seq: user.usageSeq, ...currentCount(user, now) };
      const profile = profileOf(user, now);

      return liveStream({
        socket,
        expiresAt,
        profile,
        total,
        signal: request.signal,
        conversationEvents: events,
      });
    });
  } catch (error) {
    socket.close();
    throw error;
  }
}

function afterOf(request: Request): { after?: string } {
  const given = [
    new URL(request.url).searchParams.get('after'),
    request.headers.get('last-event-id'),
  ];
  const revisions = given.flatMap((each) =>
    each !== null && /^\d{1,15}$/.test(each) ? [Number(each)] : [],
  );
  return revisions.length > 0 ? { after: String(Math.max(...revisions)) } : {};
}
