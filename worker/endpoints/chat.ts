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
import type { BaseContext, Handler } from '../http/request-context.ts';
import type { UserSession } from '../identity/user-session.ts';
import { connectionCountry } from '../lib/caller.ts';
import { RequestError } from '../lib/request-error.ts';
import { isoDate } from '../lib/time.ts';

export const getChat: Handler<'getChat'> = async ({ session, query, ...context }) =>
  session.run([], async ({ user }) => {
    const { key, page, reads } = await readPage(context, user, query);
    if (key) countReferrals(context, { userId: user.id, key, epoch: user.chatEpoch }, reads);
    return {
      success: true,
      revision: page.revision,
      messages: reads.map(({ message }) => message),
      hasMore: page.hasMore,
      typingUntil: isoDate(page.typingUntil),
      consent: consentOf(user),
    };
  });

type Sender = BaseContext & { session: UserSession };

async function send({ session, request, ...context }: Sender, sent: Sent) {
  const { settings, language: locale } = context;
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
    const message = await sendQueued(context, user, sent, { queueing, queued });
    return { success: true as const, message };
  });
}

export const sendMessage: Handler<'sendMessage'> = ({ input, ...context }) => send(context, input);

export const sendVoice: Handler<'sendVoice'> = ({ query, recording, ...context }) => {
  const { id, seconds } = query;
  return send(context, {
    id,
    text: '',
    recording: { ...recording, seconds },
  });
};

export const getVoice: Handler<'getVoice'> = async ({ session, params, ...context }) =>
  session.run([], async ({ user }) => {
    const recording = await readRecording(context, user, params.id);
    if (!recording) throw new RequestError('notFound');
    return recordingResponse(recording);
  });

export const clearChat: Handler<'clearChat'> = async ({ session, ...context }) =>
  session.run([], async ({ user }) => {
    if (user.chatKey) {
      await clearChatOf(context, user, session.admittedUserSql());
      finishClearing(context, user);
    }
    return { success: true };
  });

/** Repeating a version keeps the first time. */
export const putChatConsent: Handler<'putChatConsent'> = async ({ session, input, ...context }) =>
  session.run([], async ({ user }) => {
    const { consent, isNew } = await giveConsent(
      context,
      user,
      session.admittedUserSql(),
      input.version,
    );
    if (isNew) tellBot(context, user.id);
    return { success: true, consent };
  });

export const deleteChatConsent: Handler<'deleteChatConsent'> = async (context) =>
  withdrawConsent(context, ({ user, isNew }) => {
    if (isNew) finishClearing(context, user);
    return { success: true, consent: null };
  });

type Cleared = { id: string; chatEpoch: number };

function finishClearing(context: BaseContext, { id, chatEpoch }: Cleared): void {
  const { db, env, waitUntil } = context;
  waitUntil(confirmCleared(env, db, id, chatEpoch + 1));
  tellBot(context, id);
}

function tellBot(context: BaseContext, userId: string): void {
  const { db, settings, waitUntil } = context;
  waitUntil(deliverSoon(db, settings, userId, messageEvents(context)));
}
