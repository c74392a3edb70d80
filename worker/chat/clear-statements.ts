import { and, eq, sql } from 'drizzle-orm';
import { chatErasures, users } from '#db/schema';
import { cancelBotEvents, replaceBotEvent } from '../bot/outbox.ts';
import { excluded } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { type Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { type WrappedKey } from './chat-encryption.ts';

/**
 * If the request does not confirm the
 * erasure, the cron job does after this time.
 */
const confirmAfterMs = minuteMs;

/**
 * Destroys a conversation's key, notes the next epoch
 * until the live object has confirmed it, and queues the
 * bot's event; without a `next` key the consent goes too.
 */
export function clearConversation<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  { settings, now }: { settings: Settings; now: number },
  { id, next }: { id: string; next: WrappedKey | null },
): void {
  const own = eq(users.id, id);
  tx.write(on, (holds) => {
    const theirs = sql`from ${users} where ${and(own, holds)}`;
    const waiting = sql`(select ${users.id} ${theirs})`;
    return [
      ...cancelBotEvents(waiting, now, 'messages'),
      ...replaceBotEvent(settings, 'chat.cleared', now, sql`${users.phone}`, sql``, theirs),
    ];
  });

  const { userId, epoch, dueAt } = chatErasures;
  const nextEpoch = sql<number>`${users.chatEpoch} + 1`;
  const erasure = {
    userId: sql`${users.id}`,
    epoch: nextEpoch,
    createdAt: now,
    dueAt: now + confirmAfterMs,
  };
  tx.insert(on, chatErasures, erasure, {
    from: sql`${users}`,
    where: own,
    upsert: { target: [userId], set: { epoch: excluded(epoch), dueAt: excluded(dueAt) } },
  });

  const keys = { chatKey: next?.chatKey ?? null, chatKeyId: next?.chatKeyId ?? null };
  const consent = next ? {} : { chatConsentVersion: null, chatConsentAt: null };
  tx.update(on, users, { ...keys, ...consent, chatEpoch: nextEpoch }, own);
}
