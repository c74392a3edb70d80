import { comparedBy } from '../bot/signed-call.ts';
import { userNamedSql, type Person } from '../bot/person.ts';
import { calledConversation } from '../chat/called-conversation.ts';
import { sealPartialReply } from '../chat/message-encryption.ts';
import { storeReply, storeTranscript } from '../chat/replies.ts';
import { decodeRecording, readRecording, recordingResponse } from '../chat/recordings.ts';
import type { Handler } from '../http/handlers.ts';
import { RequestError } from '../lib/request-error.ts';
import { fixed } from '../lib/expressions.ts';
import { liveUserOf } from '../live/publish.ts';
import { notifyOfReply, subscribersOf } from '../push/reply-notices.ts';
import { entitledTierSql, voiceSql } from '../usage/allowance.ts';

/** A replay returns the same `seq`. */
export const botMessages: Handler<'botMessages'> = async (scope) => {
  const { input, settings } = scope;
  const { id, text, replyTo, crisis } = input;
  const recording = input.voice && decodeRecording(input.voice);

  const botCall = comparedBy(settings, scope.botCall, {
    path: 'messages',
    ...nameOf(input),
    id,
    replyTo,
    crisis,
  });

  const { db, now } = scope;
  const found = await calledConversation({ db, settings, now, botCall }, input, {
    facts: { voice: voiceSql(entitledTierSql(now)) },
    reads: { subscribers: subscribersOf(db, userNamedSql(input), now) },
  });

  const spoken = found.facts.voice === 1 ? recording : undefined;
  const reply = { id, text, replyTo, crisis, recording: spoken };
  const { seq, voice, unseen } = await storeReply(scope, found.user, reply);

  if (unseen) scope.waitUntil(notifyOfReply(scope, found.reads.subscribers));
  return { success: true, seq, voice };
};

export const botTyping: Handler<'botTyping'> = async (scope) => {
  const { input, env, settings } = scope;
  const { seconds, text } = input;

  const botCall = comparedBy(settings, scope.botCall, {
    path: 'typing',
    ...nameOf(input),
    seconds,
  });

  const { user, facts } = await calledConversation({ ...scope, botCall }, input, {
    facts: { until: fixed(scope.now + 1000 * seconds) },
    reads: {},
  });

  const sealed = text === undefined ? null : await sealPartialReply(settings, user, text);
  await liveUserOf(env, user.id).type(user.chatEpoch, facts.until, sealed);
  return { success: true };
};

export const botVoice: Handler<'botVoice'> = async (scope) => {
  const { input } = scope;
  const { user } = await calledConversation(scope, input, nothingMore);
  const recording = await readRecording(scope, user, input.id, ['user']);
  if (!recording)
    throw new RequestError('notFound', { message: 'There is no recording with this id' });
  return recordingResponse(recording);
};

export const botTranscripts: Handler<'botTranscripts'> = async (scope) => {
  const { input, settings } = scope;
  const { id, text } = input;
  const botCall = comparedBy(settings, scope.botCall, {
    path: 'transcripts',
    ...nameOf(input),
    id,
  });
  const { user } = await calledConversation({ ...scope, botCall }, input, nothingMore);
  await storeTranscript(scope, user, { id, text });
  return { success: true };
};

const nameOf = ({ phone, businessUserId }: Person) => ({
  phone,
  businessUserId,
});

const nothingMore = { facts: {}, reads: {} };
