import { and, asc, eq, isNotNull, lte, not, sql, type SQL } from 'drizzle-orm';
import { chatErasures, users, type User } from '#db/schema';
import type { Authorized, UserSession } from '../identity/user-session.ts';
import { cancelBotEvents, replaceBotEvent } from '../bot/outbox.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import { newChatKey, type Owner, type WrappedKey } from './chat-encryption.ts';

/** If the request does not confirm the erasure, the cron job does after this time. */
const confirmAfterMs = minuteMs;

type Context = { db: Database; settings: Settings; now: number };

/**
 * Clears a conversation, whose consent stays; `session` is SQL for the user's id if the
 * session is live. Throws 503 if the number has changed meanwhile.
 */
export async function clearChatOf(
  context: Context,
  { id, phone }: Owner,
  session: SQL,
): Promise<void> {
  // The number is read first, since the next key is bound to it.
  const fresh = await newChatKey(context.settings, { id, phone });
  const own = and(eq(users.id, session), eq(users.phone, phone), isNotNull(users.chatKey))!;

  const tx = transaction(context.db, {
    from: sql`(select 1) left join ${users} on ${own}`,
    facts: { isOwn: sql<number>`${users.id} is not null` },
    outcomes: ({ isOwn }) => ({ moved: not(isOwn) }),
    otherwise: 'cleared',
  });
  clearConversation(tx, ['cleared'], context, { id, next: fresh });
  const { outcome } = await tx.run();

  if (outcome === 'moved') throw new RequestError('unavailable', { retryAfter: 1 });
}

/** Clears the conversation and withdraws the consent, if there is one. */
export function withdrawConsent<T>(
  context: Context & { session: UserSession },
  respond: (withdrawn: { user: User; isNew: boolean }) => T,
): Promise<Authorized<T>> {
  const { session, settings, now } = context;
  const id = session.claimedUserId;

  return session.decide(
    {
      facts: { hasChat: sql<number>`${users.chatKey} is not null` },
      outcomes: ({ hasChat }) => ({ withoutConsent: not(hasChat) }),
      otherwise: 'withdrawn',
    },
    (tx) => {
      clearConversation(tx, ['withdrawn'], context, { id, next: null });
      tx.write(['withdrawn'], (holds) => {
        const phone = sql`${users.phone}`;
        const theirs = sql`from ${users} where ${and(eq(users.id, id), holds)}`;
        return replaceBotEvent(settings, 'chat.consent', now, phone, sql`'version', null`, theirs);
      });
    },
    ({ user, outcome }) => respond({ user, isNew: outcome === 'withdrawn' }),
  );
}

/**
 * Destroys a conversation's key, notes the next epoch until the live object has
 * confirmed it, and queues the bot's event; without a `next` key the consent goes too.
 */
function clearConversation<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  { settings, now }: Context,
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

export async function confirmCleared(
  env: Env,
  db: Database,
  userId: string,
  epoch: number,
): Promise<void> {
  await liveUserOf(env, userId).clear(epoch);
  await db
    .delete(chatErasures)
    .where(and(eq(chatErasures.userId, userId), eq(chatErasures.epoch, epoch)));
}

const mostAtOnce = 50;
const retryMs = 5 * minuteMs;

type Erasure = typeof chatErasures.$inferSelect;

/**
 * Repeats unconfirmed erasures; a deleted account's once more after a minute, for
 * messages that were in flight.
 */
export async function eraseConversations(env: Env, db: Database, now: number): Promise<void> {
  const due = await db
    .select()
    .from(chatErasures)
    .where(lte(chatErasures.dueAt, now))
    .orderBy(asc(chatErasures.dueAt))
    .limit(mostAtOnce);
  for (const erasure of due) {
    await erase(env, db, erasure).catch(async () => {
      log('error', 'chat_erasure_failed', { waitingMs: now - erasure.createdAt });
      const retryAt = { dueAt: now + retryMs };
      await db.update(chatErasures).set(retryAt).where(eq(chatErasures.userId, erasure.userId));
    });
  }
}

async function erase(env: Env, db: Database, { userId, epoch }: Erasure): Promise<void> {
  if (epoch !== null) return confirmCleared(env, db, userId, epoch);
  await liveUserOf(env, userId).erase();
  await db.delete(chatErasures).where(eq(chatErasures.userId, userId));
}
