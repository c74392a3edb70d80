import { liveUserOf } from '../live/publish.ts';
import { sql, type SQL, asc, eq, lte } from 'drizzle-orm';
import { cancelBotEvents, insertBotEvent } from '../bot/outbox.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import type { WrappedKey } from './chat-encryption.ts';
import { minuteMs } from '../lib/time.ts';
import { chatErasures } from '#db/schema';
import { log } from '../lib/log.ts';

/** If the request does not confirm the erasure, the cron job does after this time. */
const confirmAfterMs = minuteMs;

/** SQL that destroys a conversation's key and queues the bot's event; without a `fresh` key the consent goes too. */
export function clearConversation(
  userId: SQL,
  fresh: WrappedKey | null,
  settings: Settings,
  now: number,
): SQL[] {
  const user = sql`from users where id = ${userId} and chat_key is not null`;
  const consent = fresh ? sql`` : sql`, chat_consent_version = null, chat_consent_at = null`;
  const withdrawn = insertBotEvent(
    settings,
    'chat.consent',
    now,
    sql`phone`,
    sql`'userId', id, 'version', null`,
    sql`from users where id = ${userId} and chat_consent_version is not null`,
  );
  return [
    ...cancelBotEvents(sql`(select id ${user})`, now, 'messages'),
    insertBotEvent(settings, 'chat.cleared', now, sql`phone`, sql`'userId', id`, user),
    ...(fresh ? [] : [withdrawn]),
    sql`insert into chat_erasures (user_id, epoch, created_at, due_at)
      select id, chat_epoch + 1, ${now}, ${now + confirmAfterMs} ${user}
      on conflict (user_id) do update set epoch = excluded.epoch, due_at = excluded.due_at`,
    sql`update users set chat_key = ${fresh?.chatKey ?? null}, chat_key_id = ${fresh?.chatKeyId ?? null},
      chat_epoch = chat_epoch + 1, crisis_until = null ${consent} where id = ${userId} and chat_key is not null`,
  ];
}

export async function confirmCleared(
  env: Env,
  db: Database,
  userId: string,
  epoch: number,
): Promise<void> {
  await liveUserOf(env, userId).clear(epoch);
  await db.run(sql`delete from chat_erasures where user_id = ${userId} and epoch = ${epoch}`);
}

const mostAtOnce = 50;
const retryMs = 5 * minuteMs;

type Erasure = typeof chatErasures.$inferSelect;

/** Repeats unconfirmed erasures; a deleted account's once more after a minute, for messages that were in flight. */
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
  await db.run(sql`delete from chat_erasures where user_id = ${userId}`);
}
