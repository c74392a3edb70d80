import { and, asc, eq, isNotNull, lte, sql, type SQL } from 'drizzle-orm';
import { chatErasures, users } from '#db/schema';
import { cancelBotEvents, replaceBotEvent } from '../bot/outbox.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { build, excluded, insertSelect, nameOf } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import { newChatKey, type Owner, type WrappedKey } from './chat-encryption.ts';

/** If the request does not confirm the erasure, the cron job does after this time. */
const confirmAfterMs = minuteMs;

type Context = { db: Database; settings: Settings; now: number };

/**
 * Clears a conversation, whose consent stays; `session` is SQL for the user's id if the
 * session is live.
 */
export async function clearChatOf(
  { db, settings, now }: Context,
  { id, phone }: Owner,
  session: SQL,
): Promise<void> {
  // The number is read first, since the next key is bound to it.
  const fresh = await newChatKey(settings, { id, phone });
  const owner = sql`(select ${users.id} from ${users} where ${users.id} = ${session}
    and ${users.phone} = ${phone})`;
  const [first, ...rest] = clearConversation(owner, fresh, settings, now);
  const results = await db.batch([db.run(first!), ...rest.map((statement) => db.run(statement))]);
  if (results.at(-1)!.rowsAffected === 0) throw new RequestError('unavailable', { retryAfter: 1 });
}

/** SQL that clears a user's conversation and withdraws the consent. */
export function withdrawConsent(userId: SQL, settings: Settings, now: number): SQL[] {
  return clearConversation(userId, null, settings, now);
}

/**
 * SQL that destroys a conversation's key and queues the bot's event; without a `fresh`
 * key the consent goes too.
 */
function clearConversation(
  userId: SQL,
  fresh: WrappedKey | null,
  settings: Settings,
  now: number,
): SQL[] {
  const hasChat = and(sql`${users.id} = ${userId}`, isNotNull(users.chatKey))!;
  const from = sql`from ${users} where ${hasChat}`;
  const phone = sql`${users.phone}`;
  const noData = sql``;
  const keys = { chatKey: fresh?.chatKey ?? null, chatKeyId: fresh?.chatKeyId ?? null };
  const consent = fresh ? {} : { chatConsentVersion: null, chatConsentAt: null };
  return [
    ...cancelBotEvents(sql`(select ${users.id} ${from})`, now, 'messages'),
    ...replaceBotEvent(settings, 'chat.cleared', now, phone, noData, from),
    ...(fresh ? [] : consentWithdrawn(userId, settings, now)),
    eraseLater(from, now),
    build
      .update(users)
      .set({ ...keys, ...consent, chatEpoch: sql`${users.chatEpoch} + 1` })
      .where(hasChat)
      .getSQL(),
  ];
}

function consentWithdrawn(userId: SQL, settings: Settings, now: number): SQL[] {
  const hasConsent = and(sql`${users.id} = ${userId}`, isNotNull(users.chatConsentVersion));
  const from = sql`from ${users} where ${hasConsent}`;
  const data = sql`'version', null`;
  return replaceBotEvent(settings, 'chat.consent', now, sql`${users.phone}`, data, from);
}

/** SQL that notes the next epoch, until the live object has confirmed it. */
function eraseLater(from: SQL, now: number): SQL {
  const erasure = {
    userId: sql`${users.id}`,
    epoch: sql`${users.chatEpoch} + 1`,
    createdAt: now,
    dueAt: now + confirmAfterMs,
  };
  const [userId, epoch, dueAt] = [chatErasures.userId, chatErasures.epoch, chatErasures.dueAt];
  return sql`${insertSelect(chatErasures, erasure, from)} on conflict (${nameOf(userId)})
    do update set ${nameOf(epoch)} = ${excluded(epoch)}, ${nameOf(dueAt)} = ${excluded(dueAt)}`;
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
