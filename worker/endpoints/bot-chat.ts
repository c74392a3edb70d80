import { sql, type SQL } from 'drizzle-orm';
import { applyToPerson, personStatements, type Person } from '../accounts/identity.ts';
import { comparedBy } from '../bot/incoming-call.ts';
import { sealPartialReply, type ChatRow } from '../chat/chat-encryption.ts';
import { chatUserSql, requireConversation } from '../chat/conversation.ts';
import { storeReply, storeTranscript } from '../chat/replies.ts';
import { decodeRecording, readRecording, recordingResponse } from '../chat/recordings.ts';
import type { Handler } from '../http/request-context.ts';
import { RequestError } from '../lib/request-error.ts';
import { liveUserOf } from '../live/publish.ts';
import { notifyOfReply, subscribersSql, type Subscriber } from '../push/reply-notices.ts';
import { entitledTierSql, voiceSql } from '../usage/allowance.ts';

/** The statements of a call about a conversation: `facts` are SQL keys and values of its response. */
const conversationStatements = (facts: SQL) =>
  personStatements((own) => ({
    response: sql`select json_object(${facts}) as answer from users where ${own} and chat_key is not null`,
    effects: { user: chatUserSql(own) },
  }));

const now = sql.placeholder('now');
const replyStatements = personStatements((own) => ({
  response: sql`select json_object('voice', ${voiceSql(entitledTierSql(now))}) as answer
    from users where ${own} and chat_key is not null`,
  effects: { user: chatUserSql(own), subscribers: subscribersSql(own, now) },
}));

/** The live object stores a reply once per id, so that a replay returns the same `seq`. */
export const botMessages: Handler<'botMessages'> = async (context) => {
  const { input, settings } = context;
  const { id, text, replyTo, crisis } = input;
  const recording = input.voice && decodeRecording(input.voice);
  const botCall = comparedBy(settings, context.botCall, {
    path: 'messages',
    ...nameOf(input),
    id,
    replyTo,
    crisis,
  });
  const found = await conversationOf<{ voice: number }, 'subscribers'>(
    { ...context, botCall },
    replyStatements,
  );
  const spoken = found.response?.voice === 1 ? recording : undefined;
  const reply = { id, text, replyTo, crisis, recording: spoken };
  const { seq, voice, unseen } = await storeReply(context, found.user, reply);
  if (unseen) context.waitUntil(notifyOfReply(context, found.rows.subscribers as Subscriber[]));
  return { success: true, seq, voice };
};

const typingStatements = conversationStatements(
  sql`'userId', id, 'until', ${sql.placeholder('until')}`,
);

/** The text is encrypted on its way through the live object, which keeps it in memory until the message comes. */
export const botTyping: Handler<'botTyping'> = async (context) => {
  const { input, env, settings } = context;
  const { seconds, text } = input;
  const botCall = comparedBy(settings, context.botCall, {
    path: 'typing',
    ...nameOf(input),
    seconds,
  });
  const values = { until: context.now + 1000 * seconds };
  const found = await conversationOf<{ until: number }>(
    { ...context, botCall },
    typingStatements,
    values,
  );
  const { response, user } = found;
  const sealed = text === undefined ? null : await sealPartialReply(settings, user, text);
  await liveUserOf(env, user.id).type(user.chatEpoch, response!.until, sealed);
  return { success: true };
};

const userStatements = conversationStatements(sql`'userId', id`);

export const botVoice: Handler<'botVoice'> = async (context) => {
  const { input } = context;
  const { user } = await conversationOf(context, userStatements);
  const recording = await readRecording(context, user, input.id, ['user']);
  if (!recording)
    throw new RequestError('notFound', { message: 'There is no recording with this id' });
  return recordingResponse(recording);
};

export const botTranscripts: Handler<'botTranscripts'> = async (context) => {
  const { input, settings } = context;
  const { id, text } = input;
  const botCall = comparedBy(settings, context.botCall, {
    path: 'transcripts',
    ...nameOf(input),
    id,
  });
  const { user } = await conversationOf({ ...context, botCall }, userStatements);
  await storeTranscript(context, user, { id, text });
  return { success: true };
};

const nameOf = ({ phone, businessUserId }: Person) => ({ phone, businessUserId });

type CallContext = Parameters<typeof applyToPerson>[0] & { input: Person };

/** Applies a call of the bot; throws 404 for an unknown person, 409 without consent. */
async function conversationOf<Response, Effect extends string = never>(
  context: CallContext,
  statements: ReturnType<typeof personStatements<Effect | 'user'>>,
  values: Record<string, unknown> = {},
): Promise<{ response: Response | null; user: ChatRow; rows: Record<Effect, unknown[]> }> {
  const { response, rows } = await applyToPerson<Response, Effect | 'user'>(
    context,
    context.input,
    statements,
    values,
  );
  const [user] = rows.user as ChatRow[];
  return { response, user: requireConversation(user), rows };
}
