import { RequestError } from '../lib/request-error.ts';
import { liveUserOf } from '../live/publish.ts';
import type { EnvScope } from '../env.ts';
import { chatKeyOf, type ChatRow } from './chat-keys.ts';
import {
  openContent,
  openMessage,
  sealMessage,
  type MessageContent,
} from './message-encryption.ts';
import { restartEpoch, staleEpochError } from './conversation.ts';
import { storedWithinMs } from './message-delivery.ts';
import { idHashesOf } from './message-ids.ts';
import { contentOf, type SendScope, type Sent } from './message-storing.ts';
import { sealRecording } from './recordings.ts';

type Reply = Sent & { replyTo?: string | undefined; crisis: boolean };
type StoredReply = {
  seq: number;
  voice: boolean;
  unseen: boolean;
};

const author = 'solace' as const;
const cleared = 'The person has cleared this message.';

/** Throws 409 for a known id or a cleared message. */
export async function storeReply(
  scope: SendScope,
  user: ChatRow,
  reply: Reply,
): Promise<StoredReply> {
  const { id, replyTo, crisis } = reply;
  const key = (await chatKeyOf(scope.settings, user))!;
  const content = { ...contentOf(reply), id, replyTo, crisis };
  const appended = await append(scope, user, key, { reply, content });

  switch (appended.outcome) {
    case 'stored': {
      const { message, watched } = appended;
      return {
        seq: message.seq,
        voice: content.voice !== undefined,
        unseen: !watched,
      };
    }
    case 'known': {
      const { message } = appended;
      if (message.author !== author) throw new RequestError('messageIdReused');

      const { text, voice } = await openContent(key, user.id, message);
      if (text !== content.text) throw new RequestError('messageIdReused');
      return {
        seq: message.seq,
        voice: voice !== undefined,
        unseen: false,
      };
    }
    case 'behind':
      scope.waitUntil(restartEpoch(scope, user, appended));
      throw staleEpochError();
    case 'cleared':
      throw new RequestError('conflict', { message: cleared });
    case 'late':
      throw new RequestError('unavailable');
  }
}

async function append(
  { env, settings, now }: SendScope,
  user: ChatRow,
  key: CryptoKey,
  { reply, content }: { reply: Reply; content: MessageContent },
) {
  const names = await idHashesOf(settings, user.id, { id: reply.id, author });
  const ref = { userId: user.id, id: names.id, author };
  const recording = reply.recording && (await sealRecording(key, ref, reply.recording.bytes));

  return liveUserOf(env, user.id).appendReply(user.chatEpoch, {
    ...names,
    author,
    sealed: await sealMessage(key, ref, content),
    recording,
    notAfter: now + storedWithinMs,
    replyTo: reply.replyTo,
  });
}

/** Throws 404 if there is none. */
export async function storeTranscript(
  { env, settings }: EnvScope,
  user: ChatRow,
  { id, text }: { id: string; text: string },
): Promise<void> {
  const notFound = new RequestError('notFound', { message: 'There is no recording with this id' });
  const conversation = liveUserOf(env, user.id);
  const key = (await chatKeyOf(settings, user))!;
  const stored = await conversation.find(user.chatEpoch, id);
  if (!stored || stored.author !== 'user') throw notFound;

  const { replyTo, voice } = await openMessage(key, user.id, stored);
  if (!voice) throw notFound;

  const ref = {
    userId: user.id,
    id,
    author: 'user' as const,
  };
  const sealed = await sealMessage(key, ref, { text, replyTo, voice });
  const isStored = await conversation.replaceContent(user.chatEpoch, id, sealed);
  if (!isStored) throw notFound;
}
