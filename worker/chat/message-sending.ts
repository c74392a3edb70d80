import { deliverLeased, deliverSoon } from '../bot/deliver-outbox.ts';
import { mostRecordedInCrisis } from '../contract/chat-limits.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { User } from '#db/schema';
import type { Recording } from '../lib/audio.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Appended, StoredMessage } from '../live/stored-message.ts';
import {
  chatKeyOf,
  openMessage,
  rewrapOnUse,
  sealMessage,
  toChatMessage,
  type ChatRow,
  type MessageContent,
} from './chat-encryption.ts';
import { restartEpoch, staleEpochError, type ChatContext } from './conversation.ts';
import { isInCrisis } from './crisis.ts';
import { messageEvents, storedWithinMs } from './message-delivery.ts';
import { namesOf } from './message-ids.ts';
import {
  queueMessage,
  refusalOf,
  requeue,
  unqueue,
  type QueueDecision,
  type QueuedEvent,
  type Queueing,
} from './message-queue.ts';
import { readRecording, sameBytes, sealRecording } from './recordings.ts';

type Context = ChatContext & { now: number };

/** A message of the page, with its recording if it is spoken. */
export type Sent = {
  id: string;
  text: string;
  recording?: (Recording & { seconds: number }) | undefined;
};

/**
 * With `inCrisis` no allowance bounds it,
 * and recordings have a limit of their own.
 */
type Sending = Sent & { inCrisis: boolean };

type Queued = { decision: QueueDecision; event: QueuedEvent | undefined };
type Stored = { message: ChatMessage; sentBefore: string | null };

/**
 * Sends a message whose event was queued in the transaction that
 * checked the session. The event comes first: without its message
 * it is dropped, but a message without event would never be sent.
 */
export async function sendQueued(
  context: Context,
  user: User,
  sent: Sent,
  { queueing, queued }: { queueing: Queueing; queued: Queued },
): Promise<ChatMessage> {
  const { decision, event, inCrisis } = await queuedInCrisis(context, user, queueing, queued);
  if (decision.outcome !== 'queued')
    return findMessage(context, user, sent, refusalOf(decision.outcome, user, context.now));

  const own = decision.waitedAlready ? undefined : event;
  const ownEvent = own && { event: own, before: decision };
  const stored = await storeMessage(context, user, { ...sent, inCrisis }, ownEvent);
  deliver(context, user, stored, own);
  return stored.message;
}

/**
 * In the 24 hours of a crisis neither a spent allowance nor waiting
 * messages refuse a text: it is queued by a second call of the same rule.
 */
async function queuedInCrisis(
  context: Context,
  user: User,
  queueing: Queueing,
  queued: Queued,
): Promise<Queued & { inCrisis: boolean }> {
  const { outcome } = queued.decision;
  const mayPass = outcome === 'allowanceSpent' || outcome === 'rateLimited';
  if (!mayPass || !(await isInCrisis(context, user))) return { ...queued, inCrisis: false };

  const [decide, enqueue] = queueMessage(context.db, queueing, true);
  const [[decision], [event]] = await context.db.batch([decide, enqueue]);
  // Its sender's session has ended since the first call.
  if (!decision) throw new RequestError('unauthenticated');
  return { decision, event, inCrisis: true };
}

function deliver(context: Context, user: User, stored: Stored, own: QueuedEvent | undefined): void {
  const { db, settings, waitUntil } = context;
  if (own && own.leasedUntil > 0) {
    const messages = messageEvents(context, { event: own, row: user, ...stored });
    waitUntil(deliverLeased({ db, settings, messages }, own));
    return;
  }
  if (stored.message.state === 'sent')
    waitUntil(deliverSoon(db, settings, user.id, messageEvents(context)));
}

/**
 * The earlier message with the same id and
 * content, if a new one would be refused.
 */
async function findMessage(
  context: Context,
  user: ChatRow,
  sent: Sent,
  refusal: RequestError,
): Promise<ChatMessage> {
  const key = await chatKeyOf(context.settings, user);
  const stored = key && (await liveUserOf(context.env, user.id).find(user.chatEpoch, sent.id));
  if (!key || !stored) throw refusal;

  const message = await sameMessage(context, key, user, stored, sent);
  if (message.state === 'failed') throw refusal;
  return message;
}

type OwnEvent = { event: QueuedEvent; before: QueueDecision };

/**
 * Stores a message once for its id; sends a failed one
 * again. A `RequestError` leaves the outbox as it was.
 */
async function storeMessage(
  context: Context,
  user: ChatRow,
  sent: Sending,
  own: OwnEvent | undefined,
): Promise<Stored> {
  try {
    return await appendMessage(context, user, sent, own !== undefined);
  } catch (error) {
    if (own && error instanceof RequestError) await unqueue(context.db, own.event, own.before);
    throw error;
  }
}

async function appendMessage(
  context: Context,
  user: ChatRow,
  sent: Sending,
  ownsEvent: boolean,
): Promise<Stored> {
  const key = (await chatKeyOf(context.settings, user))!;
  const appended = accepted(context, user, await append(context, user, key, sent));
  await rewrapKey(context, user);
  const { sentBefore } = appended;
  if (appended.outcome === 'stored')
    return { message: toChatMessage(appended.message, contentOf(sent)), sentBefore };

  const message = await sameMessage(context, key, user, appended.message, sent);
  if (message.state !== 'failed') return { message, sentBefore };
  const state = await sendAgain(context, user, sent.id, ownsEvent);
  return { message: { ...message, state: state ?? message.state }, sentBefore };
}

async function append(context: Context, user: ChatRow, key: CryptoKey, sent: Sending) {
  const { env, settings, now } = context;
  const author = 'user' as const;
  const names = await namesOf(settings, user.id, { id: sent.id, author });
  const place = { userId: user.id, id: names.id, author };
  const recording = sent.recording && (await sealRecording(key, place, sent.recording.bytes));
  return liveUserOf(env, user.id).append(user.chatEpoch, {
    ...names,
    author,
    sealed: await sealMessage(key, place, contentOf(sent)),
    recording,
    notAfter: now + storedWithinMs,
    perMinute: settings.CHAT_MESSAGES_PER_MINUTE,
    recordedBytesPerDay: sent.inCrisis ? mostRecordedInCrisis : undefined,
  });
}

/**
 * What the live object has stored, or knows
 * already; throws for every other outcome.
 */
function accepted(context: Context, user: ChatRow, appended: Appended) {
  switch (appended.outcome) {
    case 'stored':
    case 'known':
      return appended;
    case 'behind':
      context.waitUntil(restartEpoch(context, user, appended));
      throw staleEpochError();
    case 'limited':
      throw rateLimited(appended.allowedAt, context.now);
    case 'late':
    case 'cleared': // only a reply can be
      throw new RequestError('unavailable', { retryAfter: 1 });
  }
}

/**
 * The state of a failed message after its event was queued
 * again; undefined if another request holds the event.
 */
async function sendAgain(context: Context, user: ChatRow, id: string, ownsEvent: boolean) {
  const { db, env, now } = context;
  if (!ownsEvent && !(await requeue(db, user.id, id))) return undefined;

  const notAfter = now + storedWithinMs;
  const moved = await liveUserOf(env, user.id).move(
    user.chatEpoch,
    id,
    ['failed'],
    'sent',
    notAfter,
  );
  return moved?.state;
}

async function rewrapKey({ db, settings, waitUntil }: Context, user: ChatRow): Promise<void> {
  const { id, phone, chatKey, chatKeyId } = user;
  const row = { id, phone, chatKey: chatKey!, chatKeyId: chatKeyId! };
  const rewrapped = await rewrapOnUse(settings, row);
  if (rewrapped) waitUntil(db.run(rewrapped));
}

export function contentOf({ text, recording }: Sent): MessageContent {
  if (!recording) return { text };
  const { seconds, type, bytes } = recording;
  return { text, voice: { seconds, type, bytes: bytes.byteLength } };
}

async function sameMessage(
  context: Context,
  key: CryptoKey,
  user: ChatRow,
  stored: StoredMessage,
  sent: Sent,
): Promise<ChatMessage> {
  const message = await openMessage(key, user.id, stored);
  const isSame = sent.recording
    ? await isStored(context, user, message, sent.recording)
    : !message.voice && message.text === sent.text;
  if (message.author !== 'user' || !isSame) throw new RequestError('messageIdReused');
  return message;
}

/** Reads the stored recording only if it has the size of the sent one. */
async function isStored(
  context: Context,
  user: ChatRow,
  message: ChatMessage,
  { bytes }: Recording,
): Promise<boolean> {
  if (message.voice?.bytes !== bytes.byteLength) return false;
  const stored = await readRecording(context, user, message.id);
  return stored !== null && sameBytes(stored.bytes, bytes);
}
