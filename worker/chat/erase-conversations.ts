import { asc, eq, lte, sql } from 'drizzle-orm';
import { chatErasures } from '#db/schema';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { confirmCleared } from './clear-conversation.ts';
import { conversationOf } from './open-conversation.ts';
import { minuteMs } from '../lib/time.ts';

const mostAtOnce = 50;
const retryMs = 5 * minuteMs;

type Erasure = typeof chatErasures.$inferSelect;

/**
 * Erases conversations whose erasure was requested and not confirmed. The one of a deleted account is erased again a
 * minute after the request, since a message in flight may have arrived later.
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
  await conversationOf(env, userId).erase();
  await db.run(sql`delete from chat_erasures where user_id = ${userId}`);
}
