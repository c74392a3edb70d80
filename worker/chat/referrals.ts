import { eq, not } from 'drizzle-orm';
import { usedTokens } from '#db/schema';
import {
  applyToPerson,
  personTransaction,
  unknownPerson,
  type Person,
  type PersonCall,
} from '../bot/person.ts';
import type { ChatMessage } from '../contract/chat-schemas.ts';
import type { Env } from '../env.ts';
import { keyedHash } from '../lib/crypto.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import { rowExists } from '../lib/expressions.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
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
 * As long as a mark in the message itself may be
 * late, because its live object cannot be reached.
 */
const markedForMs = 7 * dayMs;

/**
 * Counts, after the response, the referral of each
 * crisis reply that its user reads for the first time.
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
 * Counts a referral that the bot has made on
 * WhatsApp; throws 404 for an unknown person.
 */
export async function countReported(call: PersonCall, person: Person): Promise<void> {
  const tx = await personTransaction(call, person, {
    facts: {},
    outcomes: ({ isKnown }) => ({ unknown: not(isKnown) }),
    otherwise: 'counted',
    forgotten: ['unknown'],
  });
  countOnDay(tx, ['counted'], { kind: 'referral', detail: 'whatsapp' }, call.now);
  const { outcome } = await applyToPerson(tx);
  if (outcome === 'unknown') throw unknownPerson();
}

/**
 * Two streams may read a reply before its encrypted
 * mark is stored, so a row in the database decides.
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
  const now = Date.now();
  const mark = await keyedHash(settings.CODE_PEPPER[0]!, 'referral', userId, id);
  const tx = transaction(db, {
    facts: { known: rowExists(usedTokens, eq(usedTokens.id, mark)) },
    outcomes: ({ known }) => ({ known }),
    otherwise: 'counted',
  });
  tx.insert(['counted'], usedTokens, { id: mark, by: tx.id, expiresAt: now + markedForMs });
  countOnDay(tx, ['counted'], { kind: 'referral', detail: 'web' }, now);
  await tx.run();
  const sealed = await sealMessage(key, { userId, id, author }, { ...content, counted: true });
  await liveUserOf(env, userId).markCounted(epoch, id, sealed);
}
