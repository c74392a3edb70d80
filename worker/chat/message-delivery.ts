import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import type { MessageEvents, OpenedMessage } from '../bot/deliver-outbox.ts';
import type { DeliveryResult } from '../bot/delivery-rules.ts';
import { bodyFor, storedOf, type OutboxEvent } from '../bot/outbox.ts';
import type { ChatMessage, MessageState } from '../contract/chat-schemas.ts';
import type { Database } from '../lib/database.ts';
import { memoize } from '../lib/memoize.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import type { WithEnv } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import { chatKeyOf, type ChatRow } from './chat-keys.ts';
import { openMessage } from './message-encryption.ts';

/** How long (ms) after its event was queued a message may still be stored. */
export const storedWithinMs = 8000;
const clockSkewMs = 7000;

type KnownMessage = {
  event: OutboxEvent;
  row: ChatRow;
  message: ChatMessage;
  sentBefore: string | null;
};

export function messageEvents(
  scope: Scope<'db' | 'settings'> & WithEnv,
  known?: KnownMessage,
): MessageEvents {
  const readRow = memoize((event: OutboxEvent) => rowOf(scope.db, event));
  const userOfEvent = async (event: OutboxEvent) =>
    event === known?.event ? known.row : readRow(event);

  return {
    async open(event) {
      if (event === known?.event) return openKnown(scope, known);
      return openStored(scope, event, await userOfEvent(event));
    },
    async close(event, state) {
      const row = await userOfEvent(event);
      if (!row) return;
      const from: MessageState[] = state === 'delivered' ? ['sent', 'failed'] : ['sent'];
      await liveUserOf(scope.env, row.id).changeState(row.chatEpoch, event.messageId!, from, state);
    },
  };
}

async function openKnown(
  { settings }: Scope<'db' | 'settings'> & WithEnv,
  { event, message, sentBefore }: KnownMessage,
): Promise<OpenedMessage | DeliveryResult> {
  if (message.state === 'failed') return 'parked';
  if (message.state === 'delivered') return 'delivered';
  return complete(settings, event, { message, sentBefore });
}

async function openStored(
  { env, settings }: Scope<'db' | 'settings'> & WithEnv,
  event: OutboxEvent,
  row: ChatRow | undefined,
): Promise<OpenedMessage | DeliveryResult> {
  const key = row && (await chatKeyOf(settings, row));
  if (!row || !key) return 'gone';

  const mayBeStored = Date.now() < event.createdAt + storedWithinMs + clockSkewMs;
  const queued = await liveUserOf(env, row.id).findQueued(row.chatEpoch, event.messageId!);
  if (!queued) return mayBeStored ? 'later' : 'gone';

  const { message, sentBefore } = queued;
  if (message.state === 'delivered') return 'delivered';
  // The resending request queues the event, then sets `sent`. So a `failed` message
  // with an event is about to be sent, or its request was killed.
  if (message.state === 'failed' && !isRetried(event)) return mayBeStored ? 'later' : 'parked';
  const opened = await openMessage(key, row.id, message);
  return complete(settings, event, { message: opened, sentBefore });
}

async function rowOf(db: Database, { userId }: OutboxEvent): Promise<ChatRow | undefined> {
  const { id, phone, chatKey, chatKeyId, chatEpoch } = users;
  const [row] = await db
    .select({ id, phone, chatKey, chatKeyId, chatEpoch })
    .from(users)
    .where(eq(users.id, userId!));
  return row;
}

function isRetried(event: OutboxEvent): boolean {
  return storedOf(event).data['retried'] === true;
}

async function complete(
  settings: Settings,
  event: OutboxEvent,
  { message, sentBefore }: { message: ChatMessage; sentBefore: string | null },
): Promise<OpenedMessage | DeliveryResult> {
  const { seq, text, at, voice } = message;
  const messageId = event.messageId!;
  const body = await bodyFor(settings, event, {
    messageId,
    seq,
    text,
    at,
    voice,
  });
  return body === null ? 'gone' : { body, sentBefore };
}
