import { sql } from 'drizzle-orm';
import { applyOnceThen, comparedBy, idempotentStatements, isFirstCall } from '../bot/bot-call.ts';
import { sealPartialReply, type ChatRow } from '../chat/chat-encryption.ts';
import { chatUserSql, requireConversation } from '../chat/chat-user.ts';
import { storeReply, storeTranscript } from '../chat/message-sending.ts';
import { decodeRecording, readRecording, recordingResponse } from '../chat/recordings.ts';
import type { Handler } from '../http/request-context.ts';
import { RequestError } from '../lib/request-error.ts';
import { dayMs } from '../lib/time.ts';
import { liveUserOf } from '../live/publish.ts';
import { entitledTierSql, voiceSql } from '../usage/allowance.ts';

const crisisMs = dayMs;
const [phone, crisisUntil, now] = [sql.placeholder('phone'), sql.placeholder('crisisUntil'), sql.placeholder('now')];
const replyFacts = sql`select json_object('voice', ${voiceSql(entitledTierSql(now))}) as answer
  from users where phone = ${phone} and chat_key is not null`;
const replyStatements = idempotentStatements(replyFacts, [
  sql`update users set crisis_until = ${crisisUntil} where phone = ${phone} and ${crisisUntil} > 0 and ${isFirstCall}`,
  chatUserSql(phone),
]);

/**
 * The Durable Object stores a reply once per id, so a replay stores nothing and returns the same `seq`. Without voice in
 * the plan the text is delivered alone.
 */
export const botMessages: Handler<'botMessages'> = async (context) => {
  const { input, now } = context;
  const { id, text, replyTo, crisis } = input;
  const recording = input.voice && decodeRecording(input.voice);
  const botCall = await comparedBy(context.botCall, { path: 'messages', phone: input.phone, id, replyTo, crisis });
  const values = { phone: input.phone, crisisUntil: crisis ? now + crisisMs : 0 };
  const [facts, user] = await applyOnceThen<{ voice: number }, ChatRow>(
    { ...context, botCall },
    replyStatements,
    values,
  );
  const row = requireConversation(user);
  const spoken = facts?.voice === 1 ? recording : undefined;
  return { success: true, ...(await storeReply(context, row, { id, text, replyTo, crisis, recording: spoken })) };
};

const until = sql.placeholder('until');
const typingFacts = sql`select json_object('userId', id, 'until', ${until}) as answer
  from users where phone = ${phone} and chat_key is not null`;
const typingStatements = idempotentStatements(typingFacts, [chatUserSql(phone)]);

/** The text is encrypted on its way through the live object, which keeps it in memory until the message comes. */
export const botTyping: Handler<'botTyping'> = async (context) => {
  const { input, env, settings } = context;
  const { seconds, text } = input;
  const botCall = await comparedBy(context.botCall, { path: 'typing', phone: input.phone, seconds });
  const values = { phone: input.phone, until: context.now + 1000 * seconds };
  const [first, user] = await applyOnceThen<{ until: number }, ChatRow>(
    { ...context, botCall },
    typingStatements,
    values,
  );
  const row = requireConversation(user);
  const sealed = text === undefined ? null : await sealPartialReply(settings, row, text);
  await liveUserOf(env, row.id).type(row.chatEpoch, first!.until, sealed);
  return { success: true };
};

const userFacts = sql`select json_object('userId', id) as answer from users where phone = ${phone} and chat_key is not null`;
const userStatements = idempotentStatements(userFacts, [chatUserSql(phone)]);

export const botVoice: Handler<'botVoice'> = async (context) => {
  const { input } = context;
  const [, user] = await applyOnceThen<unknown, ChatRow>(context, userStatements, { phone: input.phone });
  const recording = await readRecording(context, requireConversation(user), input.id, ['user']);
  if (!recording) throw new RequestError('notFound', { message: 'There is no recording with this id' });
  return recordingResponse(recording);
};

export const botTranscripts: Handler<'botTranscripts'> = async (context) => {
  const { input } = context;
  const { id, text } = input;
  const botCall = await comparedBy(context.botCall, { path: 'transcripts', phone: input.phone, id });
  const [, user] = await applyOnceThen<unknown, ChatRow>({ ...context, botCall }, userStatements, {
    phone: input.phone,
  });
  await storeTranscript(context, requireConversation(user), { id, text });
  return { success: true };
};
