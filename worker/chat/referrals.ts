import { isNotNull, not } from 'drizzle-orm';
import { users } from '#db/schema';
import {
  applyToPerson,
  personTransaction,
  unknownPerson,
  type Person,
  type PersonCall,
} from '../bot/person.ts';
import { countNow, countOnDay } from '../lib/daily-totals.ts';
import { describeError, log } from '../lib/log.ts';
import type { StoredMessage } from '../live/stored-message.ts';
import { liveUserOf } from '../live/publish.ts';
import type { WithEnv } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import type { ReadMessage } from './conversation.ts';
import { openContent, sealMessage } from './message-encryption.ts';

type KeyedConversation = {
  userId: string;
  key: CryptoKey;
  epoch: number;
};

export function countReferrals(
  scope: Scope<'db' | 'waitUntil'> & WithEnv,
  conversation: KeyedConversation,
  reads: ReadMessage[],
): void {
  for (const { stored, message } of reads) {
    if (!message.crisis) continue;
    const counting = countOnce(scope, conversation, stored);
    scope.waitUntil(
      counting.catch((error: unknown) => log('error', 'referral_postponed', describeError(error))),
    );
  }
}

/**
 * Counts a referral that the bot has made on WhatsApp. `unknown` (nobody has the names): throws
 * 404, and writes nothing. `found`: writes `bot_calls`, and one more in `daily_totals`; the
 * same call again counts nothing. What is stored of the call is what is stored of
 * `bot/transcripts`: no row says that somebody was in a crisis.
 */
export async function countReported(scope: PersonCall, person: Person): Promise<void> {
  const tx = await personTransaction(scope, person, {
    facts: { hasChat: isNotNull(users.id) },
    outcomes: ({ isKnown }) => ({ unknown: not(isKnown) }),
    otherwise: 'found',
    unstored: ['unknown'],
  });
  countOnDay(tx, ['found'], { kind: 'referral', detail: 'whatsapp' }, scope.now);
  const { outcome } = await applyToPerson(tx);
  if (outcome === 'unknown') throw unknownPerson();
}

/**
 * Counts a reply whose mark was not stored yet. The live object decides
 * between two streams, so that no row of the database tells of a crisis.
 * If the database fails, the mark is taken back and the next read counts.
 */
async function countOnce(
  { db, env }: Scope<'db' | 'waitUntil'> & WithEnv,
  conversation: KeyedConversation,
  stored: StoredMessage,
): Promise<void> {
  const { userId, key, epoch } = conversation;
  const { id, author, sealed } = stored;
  const content = await openContent(key, userId, stored);
  if (content.counted) return;

  const marked = await sealMessage(key, { userId, id, author }, { ...content, counted: true });
  const message = { epoch, id };
  const isFirst = await liveUserOf(env, userId).reseal(message, sealed, marked);
  if (!isFirst) return;

  try {
    await countNow(db, { kind: 'referral', detail: 'web' }, Date.now());
  } catch (error) {
    await liveUserOf(env, userId).reseal(message, marked, sealed);
    throw error;
  }
}
