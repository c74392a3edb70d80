import { and, eq, gt, isNotNull, lt, type SQL } from 'drizzle-orm';
import { claims, codes, linkCodes, rateLimitEvents, users } from '#db/schema';
import type { AccountStatus } from '../contract/schemas.ts';
import { userOfSql } from '../identity/aliases.ts';
import { isContestedSql } from '../identity/contest.ts';
import { openSignedIn } from '../identity/open-session.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import type { SessionRef } from '../identity/user-session.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countOnDay, totalOfDaySql } from '../lib/daily-totals.ts';
import { columnFact, isTrue, minus, oneRow } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { hashedSubject, type Subject } from '../lib/rate-limits.ts';
import { isIn } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import type { FactsOf, Transaction } from '../lib/transaction.ts';
import type { Scope, SessionScope } from '../request-scope.ts';
import { openClaimed } from './open-claimed.ts';

export type Typed = { phone: PhoneNumber; code: string };

type SignedIn = { kind: 'signedIn'; session: SessionRef; status: AccountStatus };

export type Redeemed =
  | SignedIn
  | { kind: 'invalid' }
  | { kind: 'spent' }
  /** `until` in unix ms. */
  | { kind: 'limited'; until: number };

const wrongTriesSql = sql<number>`(
  select count(*) from ${rateLimitEvents}
  where ${rateLimitEvents.subject} = 'wrong-try:' || ${codes.challenge})`;

/** Of who has the challenges, also if somebody else has written the row of the code. */
export const wrongTriesWith = (challenges: string[]): Subject[] =>
  challenges.map((each) => hashedSubject('wrong-try', [each]));

export async function typedCode(
  { settings, now }: Scope<'settings' | 'now'>,
  { phone, code }: Typed,
  challenges: string[],
) {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'code', phone, code);
  const isSent = and(eq(codes.phone, phone), isIn(codes.challenge, challenges));
  const isLive = and(
    gt(codes.expiresAt, now),
    gt(codes.triesLeft, 0),
    lt(wrongTriesSql, settings.require('CODE_TRIES')),
  );
  const isRight = and(isLive, isIn(codes.mac, macs));

  return {
    liveSql: and(isSent, isLive),
    from: oneRow(
      [codes, isSent],
      [users, eq(users.id, userOfSql('phone', phone))],
      [linkCodes, eq(linkCodes.sentBy, codes.sentBy)],
      [claims, eq(claims.sentBy, codes.sentBy)],
    ),
    facts: {
      isLive: isTrue(isLive),
      isRight: isTrue(isRight),
      sentBy: columnFact<string | null>(codes.sentBy),
      userId: columnFact<string | null>(users.id),
      status: columnFact<AccountStatus>(users.status),
      isContested: isContestedSql(phone),
      claimedBy: columnFact<string | null>(linkCodes.claimedBy),
      whatsappId: columnFact<string | null>(linkCodes.whatsappId),
      sealedNames: columnFact<string | null>(claims.sealed),
      wrongToday: totalOfDaySql('wrong_code', now),
    },
  };
}

export type TypedCode = Awaited<ReturnType<typeof typedCode>>;
type CodeFacts = FactsOf<TypedCode['facts']>;

export const signInOutcomes = ({ isRight, userId, claimedBy }: Record<keyof CodeFacts, SQL>) => ({
  right: and(isRight, isNotNull(userId)),
  claimed: and(isRight, isNotNull(claimedBy)),
});

/** How the caller named the code: by the number alone, or by a challenge. */
type Detail = 'number' | 'challenge';

type Compared = { detail: Detail; now: number };

export function countWrongCode<Outcome extends string>(
  tx: Transaction<Outcome | 'wrong', unknown>,
  { liveSql }: TypedCode,
  { detail, now }: Compared,
): void {
  tx.update(['wrong'], codes, { triesLeft: minus(codes.triesLeft, 1) }, liveSql);
  countOnDay(tx, ['wrong'], { kind: 'wrong_code', detail }, now);
}

/** Deletes the number's codes, also for a claim, which opens its session later. */
export async function openSessionByCode<Outcome extends string>(
  tx: Transaction<Outcome | 'right' | 'claimed', CodeFacts>,
  { settings, now, device }: SessionScope,
  phone: PhoneNumber,
): Promise<void> {
  const userId = tx.fact('userId');
  await openSignedIn(tx, ['right'], { userId, phone, settings, now, device });
  tx.delete(['right', 'claimed'], codes, eq(codes.phone, phone));
}

export function signedIn({ userId, status }: CodeFacts, sessionId: string): SignedIn {
  return {
    kind: 'signedIn',
    session: { userId: userId!, sessionId },
    status,
  };
}

export async function signedInByClaim(
  scope: SessionScope,
  phone: PhoneNumber,
  { sentBy, claimedBy, sealedNames, whatsappId }: CodeFacts,
): Promise<SignedIn> {
  const sealed =
    sealedNames && claimedBy
      ? {
          mac: claimedBy,
          sealed: sealedNames,
        }
      : null;
  const opened = await openClaimed(scope, phone, {
    sentBy: sentBy!,
    sealed,
    whatsappId: whatsappId!,
  });
  return { kind: 'signedIn', ...opened };
}

/** Each value of `wrongToday` occurs once a day, so that the alert is logged once. */
export function reportWrongCode(
  { settings }: Scope<'settings'>,
  { wrongToday }: CodeFacts,
  detail: Detail,
): void {
  const wrong = wrongToday + 1;
  const budget = settings.require('WRONG_TRIES_BUDGET_PER_DAY');
  log('info', 'code_wrong', { wrong, withChallenge: detail === 'challenge' });
  if (wrong === budget)
    log('error', 'wrong_codes_budget_spent', {
      wrong,
      budget,
    });
}
