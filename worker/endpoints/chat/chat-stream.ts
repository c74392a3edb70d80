import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import { chatStream as openChatStream } from '../../chat/chat-stream.ts';
import { keyOfEpoch } from '../../chat/key-of-epoch.ts';
import { conversationOf } from '../../chat/open-conversation.ts';
import type { ConversationEvent } from '../../chat/stored-message.ts';
import type { Handler } from '../../http/handler.ts';
import { ObjectSocket } from '../../lib/object-socket.ts';
import { RequestError } from '../../lib/request-error.ts';

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
