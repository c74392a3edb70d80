import { mostRecordedInCrisis } from '../contract/chat-limits.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Recording } from '../lib/audio.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { liveUserOf } from '../live/publish.ts';
import type { AppendedMessage, StoredMessage } from '../live/stored-message.ts';
import type { EnvScope } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import { chatKeyOf, type ChatRow } from './chat-keys.ts';
import {
  openMessage,
  sealMessage,
  toChatMessage,
  type MessageContent,
} from './message-encryption.ts';
import { rewrapOnUseSql } from './rewrap-chat-keys.ts';
import { restartEpoch, staleEpochError } from './conversation.ts';
import { storedWithinMs } from './message-delivery.ts';
import { requeue } from './message-event.ts';
import { idHashesOf } from './message-ids.ts';
import { readRecording, sameBytes, sealRecording } from './recordings.ts';

export type SendScope = EnvScope & Scope<'now'>;

export type Sent = {
  id: string;
  text: string;
  recording?: (Recording & { seconds: number }) | undefined;
};

export type AppendResult = {
  message: ChatMessage;
  sentBefore: string | null;
  /** This request has stored it, or sends it again by the event that it owns. */
  isNew: boolean;
};

/** Throws 409 for another content under the same id, 429 or 503. */
export async function appendMessage(
  scope: SendScope,
  user: ChatRow,
  sent: Sent,
  { inCrisis, ownsEvent }: { inCrisis: boolean; ownsEvent: boolean },
): Promise<AppendResult> {
  const key = (await chatKeyOf(scope.settings, user))!;
  const appended = await append(scope, { user, key, inCrisis }, sent);

  const { outcome, message: stored, sentBefore } = accepted(scope, user, appended);
  await rewrapKey(scope, user);
  if (outcome === 'stored')
    return {
      message: toChatMessage(stored, contentOf(sent)),
      sentBefore,
      isNew: true,
    };

  const message = await sameMessage(scope, { user, key }, stored, sent);
  if (message.state !== 'failed') return { message, sentBefore, isNew: false };

  const state = await sendAgain(scope, user, sent.id, ownsEvent);
  const again = { ...message, state: state ?? message.state };
  return { message: again, sentBefore, isNew: ownsEvent };
}

type Conversation = { user: ChatRow; key: CryptoKey };

async function append(
  { env, settings, now }: SendScope,
  { user, key, inCrisis }: Conversation & { inCrisis: boolean },
  sent: Sent,
) {
  const author = 'user' as const;
  const names = await idHashesOf(settings, user.id, { id: sent.id, author });
  const ref = { userId: user.id, id: names.id, author };
  const recording = sent.recording && (await sealRecording(key, ref, sent.recording.bytes));

  return liveUserOf(env, user.id).appendUserMessage(user.chatEpoch, {
    ...names,
    author,
    sealed: await sealMessage(key, ref, contentOf(sent)),
    recording,
    notAfter: now + storedWithinMs,
    perMinute: settings.require('CHAT_MESSAGES_PER_MINUTE'),
    recordedBytesPerDay: inCrisis ? mostRecordedInCrisis : undefined,
  });
}

function accepted(scope: SendScope, user: ChatRow, appended: AppendedMessage) {
  switch (appended.outcome) {
    case 'stored':
    case 'known':
      return appended;
    case 'behind':
      scope.waitUntil(restartEpoch(scope, user, appended));
      throw staleEpochError();
    case 'limited':
      throw rateLimited(appended.allowedAt, scope.now);
    case 'late':
      throw new RequestError('unavailable', { retryAfter: 1 });
  }
}

async function sendAgain(scope: SendScope, user: ChatRow, id: string, ownsEvent: boolean) {
  const { db, env, now } = scope;
  if (!ownsEvent && !(await requeue(db, user.id, id))) return undefined;

  const notAfter = now + storedWithinMs;
  const moved = await liveUserOf(env, user.id).changeState(
    user.chatEpoch,
    id,
    ['failed'],
    'sent',
    notAfter,
  );
  return moved?.state;
}

async function rewrapKey({ db, settings, waitUntil }: SendScope, user: ChatRow): Promise<void> {
  const { id, phone, chatKey, chatKeyId } = user;
  const row = {
    id,
    phone,
    chatKey: chatKey!,
    chatKeyId: chatKeyId!,
  };
  const rewrapped = await rewrapOnUseSql(settings, row);
  if (rewrapped) waitUntil(db.run(rewrapped));
}

export function contentOf({ text, recording }: Sent): MessageContent {
  if (!recording) return { text };
  const { seconds, type, bytes } = recording;
  return {
    text,
    voice: { seconds, type, bytes: bytes.byteLength },
  };
}

async function sameMessage(
  scope: SendScope,
  { user, key }: Conversation,
  stored: StoredMessage,
  sent: Sent,
): Promise<ChatMessage> {
  const message = await openMessage(key, user.id, stored);
  const isSame = sent.recording
    ? await isStored(scope, user, message, sent.recording)
    : !message.voice && message.text === sent.text;
  if (message.author !== 'user' || !isSame) throw new RequestError('messageIdReused');
  return message;
}

async function isStored(
  scope: SendScope,
  user: ChatRow,
  message: ChatMessage,
  { bytes }: Recording,
): Promise<boolean> {
  if (message.voice?.bytes !== bytes.byteLength) return false;
  const stored = await readRecording(scope, user, message.id);
  return stored !== null && sameBytes(stored.bytes, bytes);
}

/** Throws `refusal` if there is none. */
export async function findOrRefuse(
  scope: SendScope,
  user: ChatRow,
  sent: Sent,
  refusal: RequestError,
): Promise<ChatMessage> {
  const key = await chatKeyOf(scope.settings, user);
  const stored = key && (await liveUserOf(scope.env, user.id).find(user.chatEpoch, sent.id));
  if (!key || !stored) throw refusal;

  const message = await sameMessage(scope, { user, key }, stored, sent);
  if (message.state === 'failed') throw refusal;
  return message;
}
