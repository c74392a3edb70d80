import { and, eq, isNull } from 'drizzle-orm';
import { chatErasures, consents, users } from '#db/schema';
import { cancelEvents, replaceEvent } from '../bot/outbox.ts';
import { plus } from '../lib/expressions.ts';
import { excluded } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { type Transaction, type On } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { type WrappedKey } from './chat-keys.ts';

/** If the request does not confirm the erasure, the cron job does after this time. */
const confirmAfterMs = minuteMs;

/**
 * - `outbox`: the events of messages go; a `chat.cleared` replaces one that waits
 * - `chat_erasures`: the next epoch, until the live object has confirmed it
 * - `users`: the next epoch and the `next` key; without one the consent ends, too, and
 *   `consents.withdrawn_at` is set
 */
export function clearConversation<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { settings, now }: Scope<'settings' | 'now'>,
  { id, next }: { id: string; next: WrappedKey | null },
): void {
  const own = eq(users.id, id);

  cancelEvents(tx, on, {
    userId: id,
    now,
    which: 'messages',
  });
  replaceEvent(tx, on, {
    settings,
    type: 'chat.cleared',
    now,
    who: own,
  });

  const { userId, epoch, dueAt } = chatErasures;
  const nextEpoch = plus(users.chatEpoch, 1);
  const erasure = {
    userId: users.id.getSQL(),
    epoch: nextEpoch,
    createdAt: now,
    dueAt: now + confirmAfterMs,
  };
  tx.insert(on, chatErasures, erasure, {
    from: users,
    where: own,
    upsert: {
      target: [userId],
      set: { epoch: excluded(epoch), dueAt: excluded(dueAt) },
    },
  });

  const keys = {
    chatKey: next?.chatKey ?? null,
    chatKeyId: next?.chatKeyId ?? null,
  };
  const consent = next ? {} : { chatConsentVersion: null, chatConsentAt: null };
  tx.update(on, users, { ...keys, ...consent, chatEpoch: nextEpoch }, own);
  if (next) return;

  const inForce = and(eq(consents.userId, id), isNull(consents.withdrawnAt));
  tx.update(on, consents, { withdrawnAt: now }, inForce);
}
