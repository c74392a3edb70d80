import { and, eq, gt, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { codes, linkCodes, rateLimitEvents, users } from '#db/schema';
import { userOf } from '../accounts/identity.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { openSession, type SessionClaims } from '../accounts/user-session.ts';
import type { AccountStatus } from '../contract/schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countOnDay, totalOfDay } from '../lib/daily-totals.ts';
import { log } from '../lib/log.ts';
import { allowedAt, recordEvents, type Limited } from '../lib/rate-limits.ts';
import { isIn, scalar } from '../lib/sql.ts';
import { transaction } from '../lib/transaction.ts';
import { openClaimed } from './number-claim.ts';
import { newestCode, subjectsOf, untilNextBudget, type SignInCall } from './one-time-code.ts';

type Attempt = {
  phone: PhoneNumber;
  code: string;
  /** Of the caller, newest first; none for a code alone, which is compared with the newest one of the number. */
  challenges: string[];
};

export type Redeemed =
  | { kind: 'signedIn'; session: SessionClaims; status: AccountStatus }
  | { kind: 'invalid' }
  /** No right code can be typed any more: the tries or the time of the challenges are used up. */
  | { kind: 'spent' }
  /** `until` in unix ms. */
  | { kind: 'limited'; until: number };

/** Uses up a right code and opens the session. A wrong code counts for each of its challenges. */
export async function redeemCode(call: SignInCall, attempt: Attempt): Promise<Redeemed> {
  const { db, now } = call;
  const { phone } = attempt;
  const names = await namesOf(call, attempt);
  const isAlone = attempt.challenges.length === 0;

  const sent = and(eq(codes.phone, phone), isIn(codes.challenge, names.challenges));
  const live = and(sent, gt(codes.expiresAt, now), gt(codes.triesLeft, 0));
  const fitting = and(live, isIn(codes.mac, names.macs));
  const ofFitting = <Column extends SQLiteColumn>(column: Column) =>
    scalar<Column['_']['data'] | null>(db.select({ column }).from(codes).where(fitting).limit(1));
  const ofClaim = (column: typeof linkCodes.claimedBy | typeof linkCodes.whatsappId) =>
    scalar<string | null>(
      db
        .select({ column })
        .from(linkCodes)
        .where(eq(linkCodes.sentBy, ofFitting(codes.sentBy))),
    );
  const userId = userOf('phone', phone);

  const tx = transaction(db, {
    facts: {
      triesAt: allowedAt(names.tryLimits, now),
      errorsAt: allowedAt(names.errorLimits, now),
      wrongToday: totalOfDay(db, 'wrong_code', now),
      known: sql<number>`${db.$count(codes, sent)}`,
      live: sql<number>`${db.$count(codes, live)}`,
      sentBy: ofFitting(codes.sentBy),
      sentAt: ofFitting(codes.sentAt),
      userId,
      status: scalar<AccountStatus>(
        db.select({ status: users.status }).from(users).where(eq(users.id, userId)),
      ),
      claimedBy: ofClaim(linkCodes.claimedBy),
      whatsappId: ofClaim(linkCodes.whatsappId),
    },
    outcomes: (facts) => (isAlone ? ofNumber(facts, call) : ofChallenges(facts, call)),
    otherwise: 'unknown',
  });

  tx.update(['wrong'], codes, { triesLeft: sql`${codes.triesLeft} - 1` }, live);
  countOnDay(tx, ['wrong'], { kind: 'wrong_code', detail: isAlone ? 'number' : 'challenge' }, now);
  openSession(tx, ['right'], { now });
  tx.delete(['right', 'claimed'], codes, eq(codes.phone, phone));
  if (isAlone) {
    recordEvents(tx, ['wrong'], [names.errors], { now });
    recordEvents(tx, [...triesOfNumber], names.tries, { now });
  } else {
    recordEvents(tx, ['unknown'], names.tries, { now });
    // A code that has signed somebody in no longer counts for the address.
    const event = and(
      isIn(rateLimitEvents.subject, names.codesFrom),
      eq(rateLimitEvents.at, tx.fact('sentAt')),
      eq(rateLimitEvents.by, tx.fact('sentBy')),
    );
    tx.delete(['right'], rateLimitEvents, event);
  }
  const { outcome, facts } = await tx.run();

  switch (outcome) {
    case 'limited':
      return { kind: 'limited', until: facts.triesAt };
    case 'tooManyWrong':
      return { kind: 'limited', until: facts.errorsAt };
    case 'wrongBudgetSpent':
      return { kind: 'limited', until: now + 1000 * untilNextBudget(now) };
    case 'spent':
      return { kind: 'spent' };
    case 'unknown':
      return { kind: 'invalid' };
    case 'wrong':
      reportWrongCode(facts.wrongToday + 1, isAlone, call);
      return { kind: 'invalid' };
    case 'right': {
      const session = { userId: facts.userId!, sessionId: tx.id };
      return { kind: 'signedIn', session, status: facts.status };
    }
    case 'claimed': {
      const claim = { claimedBy: facts.claimedBy!, whatsappId: facts.whatsappId! };
      return { kind: 'signedIn', ...(await openClaimed(call, phone, claim)) };
    }
  }
}

type Outcome =
  | 'limited'
  | 'wrongBudgetSpent'
  | 'unknown'
  | 'tooManyWrong'
  | 'wrong'
  | 'spent'
  | 'right'
  | 'claimed';
type Outcomes = { [Each in Outcome]?: SQL };

/** Each try of a code alone counts for its address. */
const triesOfNumber = [
  'wrongBudgetSpent',
  'unknown',
  'tooManyWrong',
  'wrong',
  'right',
  'claimed',
] as const;

type Facts = Record<
  'triesAt' | 'errorsAt' | 'wrongToday' | 'known' | 'live' | 'sentBy' | 'userId' | 'claimedBy',
  SQL
>;

/** Strangers may try codes of a number, so their tries are limited in four ways. */
function ofNumber(facts: Facts, { settings, now }: SignInCall): Outcomes {
  return {
    limited: sql`${facts.triesAt} > ${now}`,
    wrongBudgetSpent: sql`${facts.wrongToday} >= ${settings.WRONG_TRIES_BUDGET_PER_DAY}`,
    unknown: sql`${facts.live} = 0`,
    tooManyWrong: sql`${facts.errorsAt} > ${now}`,
    wrong: sql`${facts.sentBy} is null`,
    ...opened(facts),
  };
}

/** Only who requested a code knows its challenge, so nothing but its own tries limits it. */
function ofChallenges(facts: Facts, { now }: SignInCall): Outcomes {
  return {
    wrong: sql`${facts.live} > 0 and ${facts.sentBy} is null`,
    spent: sql`${facts.live} = 0 and ${facts.known} > 0`,
    limited: sql`${facts.live} = 0 and ${facts.triesAt} > ${now}`,
    ...opened(facts),
  };
}

/** A number without a user was claimed by the code that is right. */
const opened = ({ userId, claimedBy, sentBy }: Facts) => ({
  right: sql`${sentBy} is not null and ${userId} is not null`,
  claimed: sql`${claimedBy} is not null`,
});

/** The keyed hashes of an attempt, and the subjects of its limits. */
async function namesOf(call: SignInCall, { phone, code, challenges }: Attempt) {
  const { settings } = call;
  const peppers = settings.CODE_PEPPER;
  const [macs, hashes, { wrongTriesAt, address, network }] = await Promise.all([
    keyedHashes(peppers, 'code', phone, code),
    Promise.all(challenges.map((each) => keyedHashes(peppers, 'challenge', phone, each))),
    subjectsOf(call, phone),
  ]);

  const tryLimits: Limited[] = [
    { subject: address.triesFrom, limits: settings.LIMIT_TRIES_PER_ADDRESS },
  ];
  if (network)
    tryLimits.push({ subject: network.triesFrom, limits: settings.LIMIT_TRIES_PER_NETWORK });

  return {
    macs,
    challenges: challenges.length > 0 ? hashes.flat() : [newestCode],
    codesFrom: [...address.codesFrom, ...(network?.codesFrom ?? [])],
    tryLimits,
    tries: tryLimits.map(({ subject }) => subject),
    errors: wrongTriesAt,
    errorLimits: [{ subject: wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }],
  };
}

/** Logs the wrong code that reaches the day's budget of all numbers; each count occurs once a day. */
function reportWrongCode(wrong: number, isAlone: boolean, { settings }: SignInCall): void {
  const budget = settings.WRONG_TRIES_BUDGET_PER_DAY;
  log('info', 'code_wrong', { wrong, withChallenge: !isAlone });
  if (wrong === budget) log('error', 'wrong_codes_budget_spent', { wrong, budget });
}
