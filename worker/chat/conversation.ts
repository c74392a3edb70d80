import { and, eq, isNull, lt } from 'drizzle-orm';
import { users, type User } from '#db/schema';
import { iif } from '../lib/expressions.ts';
import type { ChatMessage, ChatStreamEvent, Consent } from '../contract/chat-schemas.ts';
import type { Env, EnvScope } from '../env.ts';
import { fromBase64 } from '../lib/crypto.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { isoDate } from '../lib/time.ts';
import type { ConversationChange, Typing } from '../live/live-changes.ts';
import type { ConversationEvents } from '../live/live-stream.ts';
import type { StaleEpoch, StoredMessage } from '../live/stored-message.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import { chatKeyOf, newChatKey, type ChatRow, type KeyOfEpoch } from './chat-keys.ts';
import { openMessage, openPartialReply } from './message-encryption.ts';

export function staleEpochError(): RequestError {
  return new RequestError('unavailable', { retryAfter: 1 });
}

/**
 * Raises the epoch of a row from a backup: the key of the
 * stored messages is lost, so the new epoch clears them.
 */
export async function restartEpoch(
  { db, settings }: EnvScope,
  { id, phone }: ChatRow,
  { epoch }: StaleEpoch,
): Promise<void> {
  const fresh = await newChatKey(settings, { id, phone });
  const ifConsented = (value: string) => iif<string | null>(isNull(users.chatKey), null, value);

  const { rowsAffected } = await db
    .update(users)
    .set({
      chatEpoch: epoch + 1,
      chatKey: ifConsented(fresh.chatKey),
      chatKeyId: ifConsented(fresh.chatKeyId),
    })
    .where(and(eq(users.id, id), eq(users.phone, phone), lt(users.chatEpoch, epoch)));

  if (rowsAffected > 0) log('error', 'conversation_restarted', { epoch });
}

/** Throws 404 for an unknown person, 409 without consent. */
export function requireConversation(user: ChatRow | undefined): ChatRow {
  if (!user)
    throw new RequestError('notFound', { message: 'Nobody with this number or id is known' });
  if (!user.chatKey)
    throw new RequestError('conflict', { message: 'This user has not consented to the chat.' });
  return user;
}

type ConsentRow = {
  chatConsentVersion: string | null;
  chatConsentAt: number | null;
};

export function consentOf({
  chatConsentVersion: version,
  chatConsentAt: at,
}: ConsentRow): Consent | null {
  return version === null || at === null
    ? null
    : {
        version,
        at: new Date(at).toISOString(),
      };
}

/** `key` is null without consent. Throws 503. */
export async function readPage(
  scope: EnvScope,
  user: ChatRow,
  { before, limit }: { before?: number | undefined; limit: number },
) {
  const key = await chatKeyOf(scope.settings, user);
  const page = await liveUserOf(scope.env, user.id).read(user.chatEpoch, before, limit);
  if (page.outcome === 'behind') {
    scope.waitUntil(restartEpoch(scope, user, page));
    throw staleEpochError();
  }
  if (!key) return { key, page, reads: [] };

  const readOne = async (stored: StoredMessage) => ({
    stored,
    message: await openMessage(key, user.id, stored),
  });
  return { key, page, reads: await Promise.all(page.messages.map(readOne)) };
}

const messagesPerRead = 500;

/** Throws 503 if it is cleared meanwhile. */
export async function exportConversation({
  user,
  env,
  settings,
}: {
  user: User;
  env: Env;
  settings: Settings;
}) {
  const key = await chatKeyOf(settings, user);
  const stored: StoredMessage[] = [];

  for (let before: number | undefined, more = key !== null; more;) {
    const page = await liveUserOf(env, user.id).read(user.chatEpoch, before, messagesPerRead);
    if (page.outcome === 'behind') throw new RequestError('unavailable', { retryAfter: 1 });
    stored.unshift(...page.messages);
    before = stored[0]?.seq;
    more = page.hasMore;
  }

  const messages = key ? stored.map((message) => openMessage(key, user.id, message)) : [];
  return { conversation: await Promise.all(messages) };
}

type OnMessage = (
  conversation: {
    key: CryptoKey;
    epoch: number;
  },
  read: ReadMessage,
) => void;
export type ReadMessage = { stored: StoredMessage; message: ChatMessage };

export function conversationEvents(
  userId: string,
  keyOf: KeyOfEpoch,
  onMessage: OnMessage,
): ConversationEvents {
  return async (change) => {
    if (change.kind === 'message') return messageFrame(change);
    if (change.kind === 'state')
      return frame({ type: 'state', upTo: change.upTo, state: change.state }, change.revision);
    if (change.kind === 'cleared') return frame({ type: 'cleared' }, change.revision);
    if (change.kind === 'typing') return typingFrame(change);
    const reset = change.reset ? frame({ type: 'reset' }, change.revision) : '';
    return change.typing ? reset + (await typingFrame(change.typing)) : reset;
  };

  async function messageFrame(
    change: Extract<ConversationChange, { kind: 'message' }>,
  ): Promise<string | null> {
    const key = await keyOf(change.epoch);
    if (!key) return null;
    const stored = {
      ...change.message,
      sealed: fromBase64(change.message.sealed),
    };
    const message = await openMessage(key, userId, stored);
    onMessage({ key, epoch: change.epoch }, { stored, message });
    return frame({ type: 'message', message }, change.revision);
  }

  async function typingFrame({ until, epoch, sealed }: Typing): Promise<string> {
    const key = sealed ? await keyOf(epoch) : null;
    const text = key && sealed ? await openPartialReply(key, userId, fromBase64(sealed)) : null;
    return frame({
      type: 'typing',
      until: isoDate(until),
      ...(text !== null && { text }),
    });
  }
}

function frame(event: ChatStreamEvent, revision?: number): string {
  const id = revision === undefined ? '' : `id: ${revision}\n`;
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
