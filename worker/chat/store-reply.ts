import { RequestError } from '../lib/request-error.ts';
import { storedWithinMs } from './message-events.ts';
import { openMessage, sealMessage, type MessageContent } from './message-encryption.ts';
import { staleEpochError, chatKeyOf, conversationOf, type ChatContext, type ChatRow } from './open-conversation.ts';

const cleared = 'The person has cleared this message.';

type Reply = MessageContent & { id: string };

/**
 * Stores a reply once for its id and returns its `seq`; throws 409 if the id belongs to another message, or if the user has
 * cleared the message that it answers.
 */
export async function storeReply(
  context: ChatContext & { now: number },
  user: ChatRow,
  { id, ...content }: Reply,
): Promise<number> {
  const { env, settings, now } = context;
  const key = (await chatKeyOf(settings, user))!;
  const sealed = await sealMessage(key, { userId: user.id, id, author: 'solace' }, content);
  const message = { id, author: 'solace' as const, sealed, notAfter: now + storedWithinMs, replyTo: content.replyTo };
  const appended = await conversationOf(env, user.id).append(user.chatEpoch, message);
  if (appended.outcome === 'behind') throw staleEpochError(context, user, appended);
  if (appended.outcome === 'cleared') throw new RequestError('conflict', { message: cleared });
  if (appended.outcome !== 'stored' && appended.outcome !== 'known') throw new RequestError('unavailable');
  if (appended.outcome === 'known') {
    const { author, text } = await openMessage(key, user.id, appended.message);
    if (author !== 'solace' || text !== content.text) throw new RequestError('messageIdReused');
  }
  return appended.message.seq;
}
