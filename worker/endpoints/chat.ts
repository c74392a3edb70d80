import { liveUserOf } from '../live/publish.ts';
import { countReferrals } from '../chat/referrals.ts';
import type { StoredMessage } from '../live/message-table.ts';
import { consentOf, restartEpoch, staleEpochError } from '../chat/conversation.ts';
import { openMessage, newChatKey, chatKeyOf } from '../chat/chat-encryption.ts';
import type { BaseContext, Handler } from '../http/request-context.ts';
import type { UserSession } from '../accounts/user-session.ts';
import { readRecording, recordingResponse } from '../chat/recordings.ts';
import { deliverLeased, deliverSoon } from '../bot/deliver-outbox.ts';
import {
  refusalOf,
  queueInCrisis,
  checkAndCountWaiting,
  pointerValues,
  queueMessage,
  type NewPointer,
  type Sent,
  findMessage,
  storeMessage,
} from '../chat/message-sending.ts';
import { messageEvents } from '../chat/message-delivery.ts';
import { connectionCountry } from '../lib/caller.ts';
import { RequestError } from '../lib/request-error.ts';
import { clearConversation, confirmCleared } from '../chat/clear-conversation.ts';
import { sql } from 'drizzle-orm';
import { insertBotEvent } from '../bot/outbox.ts';

export const getChat: Handler<'getChat'> = async ({ session, query, ...context }) =>
  session.run([], async (user) => {
    const key = await chatKeyOf(context.settings, user);
    const page = await liveUserOf(context.env, user.id).read(
      user.chatEpoch,
      query.before,
      query.limit,
    );
    if (page.outcome === 'behind') {
      context.waitUntil(restartEpoch(context, user, page));
      throw staleEpochError();
    }
    const open = async (stored: StoredMessage) => ({
      stored,
      message: await openMessage(key!, user.id, stored),
    });
    const reads = await Promise.all(key ? page.messages.map(open) : []);
    if (key) countReferrals(context, { userId: user.id, key, epoch: user.chatEpoch }, reads);
    return {
      success: true,
      revision: page.revision,
      messages: reads.map(({ message }) => message),
      hasMore: page.hasMore,
      typingUntil: page.typingUntil === null ? null : new Date(page.typingUntil).toISOString(),
      consent: consentOf(user),
    };
  });

type Sender = BaseContext & { session: UserSession };

/** The event is queued first: without its message it is dropped, but a message without event would never be sent. */
async function send({ session, request, ...context }: Sender, sent: Sent) {
  const { db, settings, language, waitUntil } = context;
  const kind = sent.recording ? ('voice' as const) : ('text' as const);
  if (!settings.BOT_WEBHOOK_URL) throw new RequestError('unavailable', { retryAfter: 3600 });
  const pointer = { messageId: sent.id, locale: language, country: connectionCountry(request) };
  const values = pointerValues(session, settings, pointer);
  const queue = db.all<NewPointer>(queueMessage(kind, values));

  const check = { check: checkAndCountWaiting, values };
  return session.runWith(check, [queue], async (user, waiting, [queuedAtOnce]) => {
    let [queued, refusal] = [queuedAtOnce, refusalOf(user, kind, waiting.others, context)];
    if (refusal?.errorName === 'allowanceSpent') {
      const inCrisis = await queueInCrisis(context, user, {
        kind,
        values,
        waiting: waiting.others,
      });
      if (inCrisis instanceof RequestError) refusal = inCrisis;
      else if (inCrisis) [queued, refusal] = [inCrisis, null];
    }
    if (refusal)
      return { success: true as const, message: await findMessage(context, user, sent, refusal) };
    const own = waiting.same ? null : { ...queued!, before: waiting };
    const stored = await storeMessage(context, user, sent, own);
    const { message } = stored;
    if (own && own.leasedUntil > 0) {
      const messages = messageEvents(context, { event: own, row: user, ...stored });
      waitUntil(deliverLeased({ db, settings, messages }, own));
    } else if (message.state === 'sent')
      waitUntil(deliverSoon(db, settings, user.id, messageEvents(context)));
    return { success: true as const, message };
  });
}

export const sendMessage: Handler<'sendMessage'> = ({ input, ...context }) => send(context, input);

export const sendVoice: Handler<'sendVoice'> = ({ query, recording, ...context }) => {
  const { id, seconds } = query;
  return send(context, { id, text: '', recording: { ...recording, seconds } });
};

export const getVoice: Handler<'getVoice'> = async ({ session, params, ...context }) =>
  session.run([], async (user) => {
    const recording = await readRecording(context, user, params.id);
    if (!recording) throw new RequestError('notFound');
    return recordingResponse(recording);
  });

export const clearChat: Handler<'clearChat'> = async ({ session, ...context }) => {
  const { db, env, settings, now, waitUntil } = context;
  return session.run([], async (user) => {
    if (user.chatKey) {
      // The number is read first, since the next key is bound to it.
      const fresh = await newChatKey(settings, user);
      const owner = sql`(select id from users where id = ${session.userId} and phone = ${user.phone})`;
      const [first, ...rest] = clearConversation(owner, fresh, settings, now).map((statement) =>
        db.run(statement),
      );
      const results = await db.batch([first!, ...rest]);
      if (results.at(-1)!.rowsAffected === 0)
        throw new RequestError('unavailable', { retryAfter: 1 });
      waitUntil(confirmCleared(env, db, user.id, user.chatEpoch + 1));
      waitUntil(deliverSoon(db, settings, user.id, messageEvents(context)));
    }
    return { success: true };
  });
};

/** Repeating a version keeps the first time. Consent counts as the first contact, which `bot/usage` requires. */
export const putChatConsent: Handler<'putChatConsent'> = async ({ session, input, ...context }) => {
  const { db, settings, now, waitUntil } = context;
  const { version } = input;
  const firstContact = sql`contacted_at is null and renewal_at is null`;
  const data = sql`'userId', id, 'version', ${version}`;
  return session.run([], async (before) => {
    const known = consentOf(before);
    if (known?.version === version) return { success: true, consent: known };
    // The number is read first, since the key is bound to it.
    const fresh = await newChatKey(settings, before);
    const changing = sql`id = ${session.userId} and phone = ${before.phone} and chat_consent_version is not ${version}`;
    await db.batch([
      db.run(
        insertBotEvent(
          settings,
          'chat.consent',
          now,
          sql`phone`,
          data,
          sql`from users where ${changing}`,
        ),
      ),
      db.run(sql`update users set chat_consent_version = ${version}, chat_consent_at = ${now},
      chat_key_id = case when chat_key is null then ${fresh.chatKeyId} else chat_key_id end,
      chat_key = coalesce(chat_key, ${fresh.chatKey}),
      week_anchor = case when ${firstContact} then ${now} else week_anchor end,
      week_start = case when ${firstContact} then ${now} else week_start end,
      contacted_at = coalesce(contacted_at, ${now}) where ${changing}`),
    ]);
    waitUntil(deliverSoon(db, settings, before.id, messageEvents(context)));
    return { success: true, consent: { version, at: new Date(now).toISOString() } };
  });
};

export const deleteChatConsent: Handler<'deleteChatConsent'> = async ({ session, ...context }) => {
  const { db, env, settings, now, waitUntil } = context;
  const statements = clearConversation(session.userId, null, settings, now).map((statement) =>
    db.run(statement),
  );
  return session.run(statements, (user) => {
    if (user.chatKey) {
      waitUntil(confirmCleared(env, db, user.id, user.chatEpoch + 1));
      waitUntil(deliverSoon(db, settings, user.id, messageEvents(context)));
    }
    return { success: true, consent: null };
  });
};
