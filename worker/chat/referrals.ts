import { and, eq, sql } from 'drizzle-orm';
import { usedTokens } from '#db/schema';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Env } from '../env.ts';
import { keyedHash } from '../lib/crypto.ts';
import { countToday } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs } from '../lib/time.ts';
import type { StoredMessage } from '../live/stored-message.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Settings } from '../settings.ts';
import { openContent, sealMessage } from './chat-encryption.ts';

type Context = {
  db: Database;
  env: Env;
  settings: Settings;
  waitUntil: (work: Promise<unknown>) => void;
};
type Conversation = { userId: string; key: CryptoKey; epoch: number };
type Read = { stored: StoredMessage; message: ChatMessage };

/**
 * As long as a mark in the message itself may be late, because its live object cannot
 * be reached.
 */
const markedForMs = 7 * dayMs;

/**
 * Counts, after the response, the referral of each crisis reply that its user reads for
 * the first time.
 */
export function countReferrals(context: Context, conversation: Conversation, reads: Read[]): void {
  for (const { stored, message } of reads) {
    if (!message.crisis) continue;
    const counting = countOnce(context, conversation, stored);
    context.waitUntil(
      counting.catch((error: unknown) => log('error', 'referral_postponed', describeError(error))),
    );
  }
}

/**
 * Two streams may read a reply before its encrypted mark is stored, so a row in the
 * database decides.
 */
async function countOnce(
  { db, env, settings }: Context,
  conversation: Conversation,
  stored: StoredMessage,
) {
  const { userId, key, epoch } = conversation;
  const { id, author } = stored;
  const content = await openContent(key, userId, stored);
  if (content.counted) return;
  const [now, by] = [Date.now(), crypto.randomUUID()];
  const mark = await keyedHash(settings.CODE_PEPPER[0]!, 'referral', userId, id);
  const own = and(eq(usedTokens.id, mark), eq(usedTokens.by, by));
  const isFirst = sql`where exists (select 1 from ${usedTokens} where ${own})`;
  await db.batch([
    db
      .insert(usedTokens)
      .values({ id: mark, by, expiresAt: now + markedForMs })
      .onConflictDoNothing(),
    db.run(countToday({ kind: 'referral', detail: 'web' }, now, isFirst)),
  ]);
  const sealed = await sealMessage(key, { userId, id, author }, { ...content, counted: true });
  await liveUserOf(env, userId).markCounted(epoch, id, sealed);
}
