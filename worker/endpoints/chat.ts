import { deliverSoon } from '../bot/deliver-outbox.ts';
import { clearChatOf, confirmCleared, withdrawConsent } from '../chat/clear-conversation.ts';
import { giveConsent } from '../chat/consent.ts';
import { consentOf, readPage } from '../chat/conversation.ts';
import { messageEvents } from '../chat/message-delivery.ts';
import { queueMessage, type Queueing } from '../chat/message-queue.ts';
import { sendQueued } from '../chat/message-sending.ts';
import type { Sent } from '../chat/message-storing.ts';
import { readRecording, recordingResponse } from '../chat/recordings.ts';
import { countReferrals } from '../chat/referrals.ts';
import type { BaseScope, Handler } from '../http/handlers.ts';
import type { UserSession } from '../identity/user-session.ts';
import { connectionCountry } from '../lib/caller.ts';
import { RequestError } from '../lib/request-error.ts';
import { isoDate } from '../lib/time.ts';

export const getChat: Handler<'getChat'> = async ({ session, query, ...scope }) =>
  session.run([], async ({ user }) => {
    const { key, page, reads } = await readPage(scope, user, query);
    if (key) countReferrals(scope, { userId: user.id, key, epoch: user.chatEpoch }, reads);
    return {
      success: true,
      revision: page.revision,
      messages: reads.map(({ message }) => message),
      hasMore: page.hasMore,
      typingUntil: isoDate(page.typingUntil),
      consent: consentOf(user),
    };
  });

type SenderScope = BaseScope & { session: UserSession };

async function send({ session, request, ...scope }: SenderScope, sent: Sent) {
  const { settings, language: locale } = scope;
  if (!settings.require('BOT_WEBHOOK_URL'))
    throw new RequestError('unavailable', { retryAfter: 3600 });
  const queueing: Queueing = {
    ...session.caller,
    messageId: sent.id,
    kind: sent.recording ? 'voice' : 'text',
    locale,
    country: connectionCountry(request),
    mostWaiting: settings.require('CHAT_MESSAGES_WAITING'),
  };

  const statements = queueMessage(queueing);
  return session.run([...statements], async ({ user }, [decision], [event]) => {
    const queued = { decision: decision!, event };
    const message = await sendQueued(scope, user, sent, { queueing, queued });
    return { success: true as const, message };
  });
}

export const sendMessage: Handler<'sendMessage'> = ({ input, ...scope }) => send(scope, input);

export const sendVoice: Handler<'sendVoice'> = ({ query, recording, ...scope }) => {
  const { id, seconds } = query;
  return send(scope, {
    id,
    text: '',
    recording: { ...recording, seconds },
  });
};

export const getVoice: Handler<'getVoice'> = async ({ session, params, ...scope }) =>
  session.run([], async ({ user }) => {
    const recording = await readRecording(scope, user, params.id);
    if (!recording) throw new RequestError('notFound');
    return recordingResponse(recording);
  });

export const clearChat: Handler<'clearChat'> = async ({ session, ...scope }) =>
  session.run([], async ({ user }) => {
    if (user.chatKey) {
      await clearChatOf(scope, user, session.admittedUserSql());
      finishClearing(scope, user);
    }
    return { success: true };
  });

/** Repeating a version keeps the first time. */
export const putChatConsent: Handler<'putChatConsent'> = async ({ session, input, ...scope }) =>
  session.run([], async ({ user }) => {
    const { consent, isNew } = await giveConsent(
      scope,
      user,
      session.admittedUserSql(),
      input.version,
    );
    if (isNew) tellBot(scope, user.id);
    return { success: true, consent };
  });

export const deleteChatConsent: Handler<'deleteChatConsent'> = async (scope) =>
  withdrawConsent(scope, ({ user, isNew }) => {
    if (isNew) finishClearing(scope, user);
    return { success: true, consent: null };
  });

type Cleared = { id: string; chatEpoch: number };

function finishClearing(scope: BaseScope, { id, chatEpoch }: Cleared): void {
  const { db, env, waitUntil } = scope;
  waitUntil(confirmCleared(env, db, id, chatEpoch + 1));
  tellBot(scope, id);
}

function tellBot(scope: BaseScope, userId: string): void {
  const { db, settings, waitUntil } = scope;
  waitUntil(deliverSoon(db, settings, userId, messageEvents(scope)));
}
