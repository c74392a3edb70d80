import { liveUserOf } from '../live/publish.ts';
import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import type { MessageEvents, OutboxEvent } from '../bot/deliver-outbox.ts';
import type { ChatMessage, MessageState } from '../contract/chat-schemas.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { memoize } from '../lib/memoize.ts';
import type { Settings } from '../settings.ts';
import { chatKeyOf, openMessage, type ChatRow } from './chat-encryption.ts';

type Data = { userId: string; messageId: string; retried?: boolean };
type Body = { type: string; timestamp: string; data: Data & Record<string, unknown> };
type Context = { db: Database; env: Env; settings: Settings };

/** How long (ms) after its event was queued a message may still be stored. */
export const storedWithinMs = 8000;
const clockSkewMs = 7000;

type Known = { event: OutboxEvent; row: ChatRow; message: ChatMessage; sentBefore: string | null };

/** `known` was just stored; later events are read, since the conversation may be cleared before them. */
export function messageEvents({ db, env, settings }: Context, known?: Known): MessageEvents {
  const rowOf = memoize(async (event: OutboxEvent): Promise<ChatRow | undefined> => {
    if (event === known?.event) return known.row;
    const { data } = parse(event);
    const { id, phone, chatKey, chatKeyId, chatEpoch } = users;
    const found = await db
      .select({ id, phone, chatKey, chatKeyId, chatEpoch })
      .from(users)
      .where(eq(users.id, data.userId));
    return found[0];
  });

  return {
    async open(event) {
      if (event === known?.event) {
        const { message, sentBefore } = known;
        if (message.state !== 'sent') return message.state === 'failed' ? 'failed' : 'settled';
        return { body: complete(event, message), sentBefore };
      }
      const { data } = parse(event);
      const row = await rowOf(event);
      const key = row && (await chatKeyOf(settings, row));
      if (!row || !key) return 'settled';
      const queued = await liveUserOf(env, row.id).findQueued(row.chatEpoch, data.messageId);
      const mayBeStored = Date.now() < event.createdAt + storedWithinMs + clockSkewMs;
      if (!queued) return mayBeStored ? 'unready' : 'absent';
      const { message, sentBefore } = queued;
      if (message.state === 'delivered') return 'settled';
      // The request that sends it again queues its event first, and makes it `sent` second.
      if (message.state === 'failed' && !data.retried) return mayBeStored ? 'unready' : 'failed';
      return { body: complete(event, await openMessage(key, row.id, message)), sentBefore };
    },
    async close(event, state) {
      const row = await rowOf(event);
      if (!row) return;
      const { messageId } = parse(event).data;
      const from: MessageState[] = state === 'delivered' ? ['sent', 'failed'] : ['sent'];
      await liveUserOf(env, row.id).move(row.chatEpoch, messageId, from, state);
    },
  };
}

function parse({ body }: OutboxEvent): Body {
  return JSON.parse(body);
}

function complete(event: OutboxEvent, { seq, text, at, voice }: ChatMessage): string {
  const { type, timestamp, data } = parse(event);
  const { retried: _, ...rest } = data;
  return JSON.stringify({ type, timestamp, data: { ...rest, seq, text, at, voice } });
}
