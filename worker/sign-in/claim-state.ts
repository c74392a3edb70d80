import { and, eq } from 'drizzle-orm';
import { botCalls, claims } from '#db/schema';
import type { BotCall } from '../bot/signed-call.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { rowExists } from '../lib/expressions.ts';
import { hashedSubject } from '../lib/rate-limits.ts';
import { isIn } from '../lib/sql.ts';
import { pause } from '../lib/time.ts';
import { sendingMs } from '../messaging/whatsapp.ts';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { isProvenSql } from './claims.ts';
import { type Link, undoLink } from './link-codes.ts';
import type { Fate } from './send-linked-code.ts';

/*
 * A claim of a number, by the one transaction that has sent its code (`sentBy`):
 *
 * | state   | bot's call | link code | claim      | moved on by                             |
 * | ------- | ---------- | --------- | ---------- | --------------------------------------- |
 * | open    | none       | open      | none       | `claimNumber`                           |
 * | claimed | `claimed`  | `sentBy`  | not proven | see below                               |
 * | sent    | `codeSent` | `sentBy`  | not proven | `proveClaim` or `proveByCode`           |
 * | proven  | any        | `sentBy`  | `provenAt` | `tieClaim`, once the code has signed in |
 *
 * `markCodeSent` moves a claimed one on if WhatsApp takes the code; else
 * `undoClaim` opens it again. A call that stays `claimed` for longer than
 * `sendingMs` (10 s) has lost its request. The same call, sent again, undoes
 * it and claims the number itself. A status proves it, or the code that comes
 * back; once the code has made an account, the id is tied and the claim ends.
 * If the number had a user, the code signs in alone, and the claim runs out.
 */

export type ClaimScope = Scope<'db' | 'settings' | 'now' | 'waitUntil'> & { botCall: BotCall };

export type SentClaim = {
  businessUserId: string;
  link: Link;
  sentBy: string;
  /** Unix ms: when it was stored. */
  at: number;
};

/** The names under which a claim is limited: those of the id and of the number. */
export async function claimSubjects(
  settings: Settings,
  businessUserId: string,
  phone: PhoneNumber,
) {
  const hashes = await keyedHashes(settings.CODE_PEPPER, 'limit', businessUserId);
  const number = await phoneSubjects(settings, phone);
  return { claimsOf: hashedSubject('claims', hashes), ...number };
}

async function isOwnCallSql({ botCall }: ClaimScope, sentBy: string) {
  const own = isIn(botCalls.id, await botCall.storedIds());
  return and(own, eq(botCalls.by, sentBy))!;
}

async function isStoredClaimSql(scope: ClaimScope, sentBy: string) {
  return and(await isOwnCallSql(scope, sentBy), eq(botCalls.outcome, 'claimed'))!;
}

export async function markCodeSent(scope: ClaimScope, sentBy: string): Promise<void> {
  // The response is sent first.
  await pause(0);
  const claimed = await isStoredClaimSql(scope, sentBy);
  await scope.db.update(botCalls).set({ outcome: 'codeSent' }).where(claimed);
}

/** `mayArrive`: the hard limit goes on counting it. */
export async function undoClaim(
  scope: ClaimScope,
  { businessUserId, link, sentBy, at }: SentClaim,
  fate: Fate,
): Promise<'settled' | 'sent' | 'undone'> {
  const stored = await isStoredClaimSql(scope, sentBy);

  const { claimsOf, codesTo, everyCodeTo } = await claimSubjects(
    scope.settings,
    businessUserId,
    link.phone,
  );
  const subjects = [claimsOf, codesTo];
  if (fate === 'unsent') subjects.push(everyCodeTo);

  return undoLink({ db: scope.db, now: at }, { link, sentBy, subjects, stored });
}

const looksEveryMs = 250;

type Sender =
  | { state: 'codeSent' | 'undone' }
  | {
      state: 'claimed';
      at: number;
    };

/** Waits until the code is sent or the claim undone; `claimed` if neither happens in time. */
export async function waitForSender(scope: ClaimScope, sentBy: string): Promise<Sender> {
  const own = await isOwnCallSql(scope, sentBy);
  const hasArrived = rowExists(claims, isProvenSql(sentBy));

  for (let waited = 0; ; waited += looksEveryMs) {
    const [stored] = await scope.db
      .select({ outcome: botCalls.outcome, at: botCalls.at, hasArrived })
      .from(botCalls)
      .where(own);
    if (!stored) return { state: 'undone' };
    if (stored.outcome !== 'claimed') return { state: 'codeSent' };

    const isOver = stored.hasArrived || waited >= sendingMs;
    if (isOver) return { state: 'claimed', at: stored.at };
    await pause(looksEveryMs);
  }
}
