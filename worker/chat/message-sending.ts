import { liveUserOf } from '../live/publish.ts';
import { sql, type SQL } from 'drizzle-orm';
import { type OutboxEvent, leaseMs, neverDue } from '../bot/deliver-outbox.ts';
import { eventData } from '../bot/outbox.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Language } from '../contract/languages.ts';
import type { Recording } from '../lib/audio.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { plans } from '../contract/plans.ts';
import { storedWithinMs } from './message-delivery.ts';
import {
  chatKeyOf,
  openMessage,
  rewrapOnUse,
  sealMessage,
  toChatMessage,
  type ChatRow,
  type MessageContent,
} from './chat-encryption.ts';
import { readRecording, sameBytes, sealRecording } from './recordings.ts';
import { restartEpoch, staleEpochError, type ChatContext } from './conversation.ts';
import type { StaleEpoch, StoredMessage, StoredPage } from '../live/message-table.ts';
import { liveUserId, sessionCheck, type UserSession } from '../accounts/user-session.ts';
import { endpoints } from '../contract/endpoints.ts';
import type { Database } from '../lib/database.ts';
import { preparedSql } from '../lib/sql.ts';
import type { User } from '#db/schema';
import { dayMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';
import {
  entitledTier,
  weeklyLimit,
  entitledTierSql,
  fitsLimitSql,
  voiceSql,
} from '../usage/allowance.ts';
import { currentCount, currentWeek, currentWeekSql, weekMs } from '../usage/week.ts';

type Context = ChatContext & { now: number };
export type Sent = {
  id: string;
  text: string;
  recording?: (Recording & { seconds: number }) | undefined;
};

/** The earlier message with the same id and content, if a new one would be refused. */
export async function findMessage(
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

type Stored = { message: ChatMessage; sentBefore: string | null };

/** Stores a message once for its id; sends a failed one again. A `RequestError` leaves the outbox as it was. */
export async function storeMessage(
  context: Context,
  user: ChatRow,
  sent: Sent,
  queued: QueuedPointer | null,
): Promise<Stored> {
  try {
    return await appendMessage(context, user, sent, queued);
  } catch (error) {
    if (queued && error instanceof RequestError) await context.db.run(unqueue(queued));
    throw error;
  }
}

async function appendMessage(
  context: Context,
  user: ChatRow,
  sent: Sent,
  queued: QueuedPointer | null,
): Promise<Stored> {
  const { db, env, settings, waitUntil, now } = context;
  const [conversation, notAfter] = [liveUserOf(env, user.id), now + storedWithinMs];
  const key = (await chatKeyOf(settings, user))!;
  const { id } = sent;
  const content = contentOf(sent);
  const place = { userId: user.id, id, author: 'user' as const };
  const sealed = await sealMessage(key, place, content);
  const recording = sent.recording && (await sealRecording(key, place, sent.recording.bytes));
  const perMinute = settings.CHAT_MESSAGES_PER_MINUTE;
  const fresh = { id, author: place.author, sealed, recording, notAfter, perMinute };
  const appended = await conversation.append(user.chatEpoch, fresh);
  // Only a reply can be `cleared`.
  if (appended.outcome === 'late' || appended.outcome === 'cleared')
    throw new RequestError('unavailable', { retryAfter: 1 });
  if (appended.outcome === 'behind') {
    context.waitUntil(restartEpoch(context, user, appended));
    throw staleEpochError();
  }
  if (appended.outcome === 'limited') throw rateLimited(appended.allowedAt, now);
  const { phone, chatKey, chatKeyId } = user;
  const rewrapped = await rewrapOnUse(settings, {
    id: user.id,
    phone,
    chatKey: chatKey!,
    chatKeyId: chatKeyId!,
  });
  if (rewrapped) waitUntil(db.run(rewrapped));
  const { sentBefore } = appended;
  if (appended.outcome === 'stored')
    return { message: toChatMessage(appended.message, content), sentBefore };
  const message = await sameMessage(context, key, user, appended.message, sent);
  if (message.state !== 'failed') return { message, sentBefore };
  if (!queued && !(await requeue(db, eventId(user.id, id)))) return { message, sentBefore };
  const moved = await conversation.move(user.chatEpoch, id, ['failed'], 'sent', notAfter);
  return { message: { ...message, state: moved?.state ?? message.state }, sentBefore };
}

function contentOf({ text, recording }: Sent): MessageContent {
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

const cleared = 'The person has cleared this message.';

type Reply = Sent & { replyTo?: string | undefined; crisis: boolean };

/** Stores a reply once for its id; `unseen` if no page is open. Throws 409 for a known id or a cleared message. */
export async function storeReply(
  context: ChatContext & { now: number },
  user: ChatRow,
  { replyTo, crisis, ...reply }: Reply,
): Promise<{ seq: number; voice: boolean; unseen: boolean }> {
  const { env, settings, now } = context;
  const key = (await chatKeyOf(settings, user))!;
  const place = { userId: user.id, id: reply.id, author: 'solace' as const };
  const content = { ...contentOf(reply), replyTo, crisis };
  const sealed = await sealMessage(key, place, content);
  const recording = reply.recording && (await sealRecording(key, place, reply.recording.bytes));
  const message = {
    id: reply.id,
    author: place.author,
    sealed,
    recording,
    notAfter: now + storedWithinMs,
    replyTo,
  };
  const appended = await liveUserOf(env, user.id).append(user.chatEpoch, message);
  if (appended.outcome === 'behind') {
    context.waitUntil(restartEpoch(context, user, appended));
    throw staleEpochError();
  }
  if (appended.outcome === 'cleared') throw new RequestError('conflict', { message: cleared });
  if (appended.outcome !== 'stored' && appended.outcome !== 'known')
    throw new RequestError('unavailable');
  const { seq } = appended.message;
  if (appended.outcome === 'stored')
    return { seq, voice: content.voice !== undefined, unseen: !appended.watched };
  const { author, text, voice } = await openMessage(key, user.id, appended.message);
  if (author !== 'solace' || text !== content.text) throw new RequestError('messageIdReused');
  return { seq, voice: voice !== undefined, unseen: false };
}

/** Stores what was said in a recording of the user, as the text of its message; throws 404 if there is none. */
export async function storeTranscript(
  context: ChatContext,
  user: ChatRow,
  { id, text }: { id: string; text: string },
): Promise<void> {
  const { env, settings } = context;
  const conversation = liveUserOf(env, user.id);
  const key = (await chatKeyOf(settings, user))!;
  const stored = await conversation.find(user.chatEpoch, id);
  const message = stored && (await openMessage(key, user.id, stored));
  const notFound = new RequestError('notFound', { message: 'There is no recording with this id' });
  if (!message?.voice || message.author !== 'user') throw notFound;
  const { replyTo, voice } = message;
  const sealed = await sealMessage(
    key,
    { userId: user.id, id, author: 'user' },
    { text, replyTo, voice },
  );
  if (!(await conversation.replaceContent(user.chatEpoch, id, sealed))) throw notFound;
}

const waitSeconds = 5;

/** How long (ms) after a reply marked `crisis` a spent allowance refuses no message. */
const crisisMs = dayMs;
const repliesPerRead = 50;

/** Whether a reply of the last 24 hours is marked `crisis`: only the encrypted message says so. */
async function inCrisis({ env, settings, now }: Context, user: ChatRow): Promise<boolean> {
  const key = await chatKeyOf(settings, user);
  if (!key) return false;
  let page = await readBefore();
  while (page.outcome === 'read') {
    const recent = page.messages.filter(({ at }) => at + crisisMs > now);
    const replies = recent.filter(({ author }) => author === 'solace');
    const opened = await Promise.all(replies.map((reply) => openMessage(key, user.id, reply)));
    if (opened.some(({ crisis }) => crisis)) return true;
    if (!page.hasMore || recent.length < page.messages.length) return false;
    page = await readBefore(recent[0]!.seq);
  }
  return false;

  async function readBefore(seq?: number): Promise<StoredPage | StaleEpoch> {
    return liveUserOf(env, user.id).read(user.chatEpoch, seq, repliesPerRead);
  }
}

/** Queues a message although the allowance is spent, in the 24 hours of a crisis; else the next reason to refuse. */
export async function queueInCrisis(
  context: Context,
  user: User,
  { kind, values, waiting }: { kind: MessageKind; values: PointerValues; waiting: number },
): Promise<NewPointer | RequestError | null> {
  if (!(await inCrisis(context, user))) return null;
  const [queued] = await context.db.all<NewPointer>(queueMessage(kind, values, true));
  return queued ?? refusalOf(user, kind, waiting, { ...context, evenIfSpent: true });
}

type Rules = { settings: Settings; now: number; evenIfSpent?: boolean };

/** Why a new message is refused, or null; the same rules as SQL stand in `queueSql`. */
export function refusalOf(
  user: User,
  kind: MessageKind,
  waiting: number,
  { settings, now, evenIfSpent = false }: Rules,
): RequestError | null {
  if (!user.chatKey) return new RequestError('consentNeeded');
  const tier = entitledTier(user, now);
  if (kind === 'voice' && !plans[tier].hasVoice) return new RequestError('voiceNotInPlan');
  const { used } = currentCount(user, now);
  const limit = weeklyLimit(tier);
  if (limit >= 0 && used >= limit && !evenIfSpent) {
    const resetsAt = new Date(currentWeek(user, now) + weekMs).toISOString();
    return new RequestError('allowanceSpent', { fields: { used, limit, resetsAt } });
  }
  if (waiting < settings.CHAT_MESSAGES_WAITING) return null;
  return new RequestError('rateLimited', { retryAfter: waitSeconds });
}

type MessageKind = 'text' | 'voice';

type Pointer = { messageId: string; locale: Language; country: string | null };
type PointerValues = ReturnType<typeof pointerValues>;

export function pointerValues(session: UserSession, settings: Settings, pointer: Pointer) {
  const { userId, now } = session.values;
  return {
    ...pointer,
    ...session.values,
    id: eventId(userId, pointer.messageId),
    mostWaiting: settings.CHAT_MESSAGES_WAITING,
    timestamp: new Date(now).toISOString(),
    leasedUntil: now + leaseMs,
  };
}

/** Null without a parked event; `parkedSince` and the first queueing (`parkedCreatedAt`) in unix ms. */
type Parked = {
  parkedSince: number | null;
  parkedAttempts: number | null;
  parkedCreatedAt: number | null;
};

/** The event that this request has queued; `before` is the one of an earlier attempt. */
export type NewPointer = OutboxEvent & { leasedUntil: number };
export type QueuedPointer = NewPointer & { before: Parked };

/** The messages that waited for the bot before this one was queued: others of the user, and this one itself. */
export type Waiting = Parked & { others: number; same: number };

const [id, messageId, now] = [
  sql.placeholder('id'),
  sql.placeholder('messageId'),
  sql.placeholder('now'),
];

const othersWaiting = sql`(select count(*) from outbox
  where user_id = users.id and message_id <> ${messageId} and parked_at is null)`;

/** The session check with the columns of `Waiting`. A statement of its own costs a message 3 % (2026-11-25, tests/bench). */
export const checkAndCountWaiting = sessionCheck<Waiting>(
  sql`, ${othersWaiting} as others, own.id is not null and own.parked_at is null as same,
    own.parked_at as parkedSince, own.attempts as parkedAttempts, own.created_at as parkedCreatedAt`,
  sql`left join outbox own on own.id = ${id}`,
);

/** SQL that removes the event of a refused message, or parks it again; an event without its message would delay the next ones. */
function unqueue({ seq, createdAt, before }: QueuedPointer): SQL {
  const own = sql`where seq = ${seq} and created_at = ${createdAt}`;
  if (before.parkedSince === null) return sql`delete from outbox ${own}`;
  return sql`update outbox set parked_at = ${before.parkedSince}, attempts = ${before.parkedAttempts},
    created_at = ${before.parkedCreatedAt}, due_at = ${neverDue}, leased_until = 0 ${own}`;
}

/** Queues a failed message's event anew unless a request holds it; under a new `seq`, as that request may park it late. */
async function requeue(db: Database, id: string): Promise<boolean> {
  const now = Date.now();
  const { rowsAffected } =
    await db.run(sql`update outbox set seq = (select max(seq) + 1 from outbox),
    created_at = ${now}, due_at = ${now}, attempts = 0, parked_at = null where id = ${id} and leased_until <= ${now}`);
  return rowsAffected > 0;
}

function eventId(userId: string, messageId: string): string {
  return `chat_${userId}_${messageId}`;
}

/** SQL that queues a message's event if consent and limits allow it, and leases it if no event precedes it. */
export function queueMessage(kind: MessageKind, values: PointerValues, evenIfSpent = false): SQL {
  return evenIfSpent
    ? preparedSql(queueSql(kind, sql`true`))(values)
    : queueStatements[kind](values);
}

function queueSql(kind: MessageKind, fits: SQL): SQL {
  const sender = liveUserId(endpoints[kind === 'voice' ? 'sendVoice' : 'sendMessage']);
  const withVoice = kind === 'voice' ? sql`and ${voiceSql(tierNow)}` : sql``;
  const fields = sql`'userId', users.id, 'messageId', ${messageId}, 'locale', ${sql.placeholder('locale')}, 'country', ${sql.placeholder('country')}`;
  const body = sql`json_object('type', 'chat.message', 'timestamp', ${sql.placeholder('timestamp')}, 'data', ${eventData(sql`phone`, fields)})`;
  const leasedUntil = sql`case when exists (select 1 from outbox earlier
    where earlier.user_id = users.id and earlier.parked_at is null) then 0 else ${sql.placeholder('leasedUntil')} end`;
  return sql`insert into outbox (id, user_id, phone, body, message_id, created_at, due_at, leased_until, attempts)
    select ${id}, users.id, phone, ${body}, ${messageId}, ${now}, ${now}, ${leasedUntil}, 1
    from users where users.id = ${sender} and chat_key is not null and ${fits} ${withVoice}
      and ${othersWaiting} < ${sql.placeholder('mostWaiting')}
    on conflict (id) do update set created_at = ${now}, parked_at = null,
      attempts = case when parked_at is null then attempts else 1 end,
      due_at = case when parked_at is null then due_at else ${now} end,
      leased_until = case when parked_at is null then leased_until else excluded.leased_until end
    returning seq, id, user_id as userId, phone, body, attempts, message_id as messageId, created_at as createdAt,
      leased_until as leasedUntil`;
}

const tierNow = entitledTierSql(now);
const usedNow = sql`(case when week_start = ${currentWeekSql(now)} then used else 0 end)`;
const withinLimit = fitsLimitSql(sql`${usedNow} + 1`, tierNow);
const queueStatements = {
  text: preparedSql(queueSql('text', withinLimit)),
  voice: preparedSql(queueSql('voice', withinLimit)),
};
