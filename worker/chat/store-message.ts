import { sql } from 'drizzle-orm';
import type { OutboxEvent } from '../bot/deliver-outbox.ts';
import type { ChatMessage } from '../contract/chat.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { storedWithinMs } from './message-events.ts';
import { openMessage, sealMessage, toChatMessage } from './message-encryption.ts';
import { staleEpochError, chatKeyOf, conversationOf, type ChatContext, type ChatRow } from './open-conversation.ts';
import { rewrapOnUse } from './rewrap-keys.ts';
import type { StoredMessage } from './stored-message.ts';

type Context = ChatContext & { now: number };
type Sent = { id: string; text: string };

/** The earlier message with the same id and text, if a new one would be refused. */
export async function findMessage(
  { env, settings }: Context,
  user: ChatRow,
  sent: Sent,
  refusal: RequestError,
): Promise<ChatMessage> {
  const key = await chatKeyOf(settings, user);
  const stored = key && (await conversationOf(env, user.id).find(user.chatEpoch, sent.id));
  if (!key || !stored) throw refusal;
  const message = await sameMessage(key, user, stored, sent);
  // Sending a failed message again is a new attempt.
  if (message.state === 'failed') throw refusal;
  return message;
}

type Stored = { message: ChatMessage; sentBefore: string | null };

/** Stores a message of the user, or finds it; a failed one becomes `sent` if `queued` sends it again. */
export async function storeMessage(
  context: Context,
  user: ChatRow,
  sent: Sent,
  queued: OutboxEvent | null,
): Promise<Stored> {
  const { db, env, settings, waitUntil, now } = context;
  const [conversation, notAfter] = [conversationOf(env, user.id), now + storedWithinMs];
  const key = (await chatKeyOf(settings, user))!;
  const { id, text } = sent;
  const sealed = await sealMessage(key, { userId: user.id, id, author: 'user' }, { text });
  const perMinute = settings.CHAT_MESSAGES_PER_MINUTE;
  const appended = await conversation.append(user.chatEpoch, { id, author: 'user', sealed, notAfter, perMinute });
  // Only a reply can be `cleared`.
  if (appended.outcome === 'late' || appended.outcome === 'cleared')
    throw new RequestError('unavailable', { retryAfter: 1 });
  // An event without its message would delay the next ones.
  if (queued && (appended.outcome === 'behind' || appended.outcome === 'limited'))
    waitUntil(db.run(sql`delete from outbox where seq = ${queued.seq} and created_at = ${queued.createdAt}`));
  if (appended.outcome === 'behind') throw staleEpochError(context, user, appended);
  if (appended.outcome === 'limited') throw rateLimited(appended.allowedAt, now);
  const rewrapped = await rewrapOnUse(settings, { id: user.id, chatKey: user.chatKey!, chatKeyId: user.chatKeyId! });
  if (rewrapped) waitUntil(db.run(rewrapped));
  const { sentBefore } = appended;
  if (appended.outcome === 'stored') return { message: toChatMessage(appended.message, { text }), sentBefore };
  const message = await sameMessage(key, user, appended.message, sent);
  if (message.state !== 'failed' || !queued) return { message, sentBefore };
  const moved = await conversation.move(user.chatEpoch, id, ['failed'], 'sent', notAfter);
  return { message: { ...message, state: moved?.state ?? message.state }, sentBefore };
}

async function sameMessage(key: CryptoKey, user: ChatRow, stored: StoredMessage, sent: Sent): Promise<ChatMessage> {
  const message = await openMessage(key, user.id, stored);
  if (message.author !== 'user' || message.text !== sent.text) throw new RequestError('messageIdReused');
  return message;
}
