import { and, eq, gt, gte, isNotNull, isNull, not, sql, type SQL } from 'drizzle-orm';
import { claims, codes, linkCodes, rateLimitEvents, users } from '#db/schema';
import { isContested, userOf } from '../identity/identity.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { openSignedIn } from '../identity/open-session.ts';
import { type SessionClaims } from '../identity/user-session.ts';
import type { AccountStatus } from '../contract/schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countOnDay, totalOfDay } from '../lib/daily-totals.ts';
import { columnFact, minus, oneRow, rowExists } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { allowedAt, recordEvents, subjectsIn } from '../lib/rate-limits.ts';
import { isIn } from '../lib/sql.ts';
import { transaction } from '../lib/transaction.ts';
import { untilNextBudget } from './code-budget.ts';
import { limitsOfCaller, limitsOfNumber } from './code-limits.ts';
import type { SignInCall } from './issue-code.ts';
import { openClaimed } from './open-claimed.ts';
import { newestCode } from './stored-codes.ts';

type Attempt = {
  phone: PhoneNumber;
  code: string;
  /** Newest first; a code alone is compared with the number's newest. */
  challenges: string[];
};

export type Redeemed =
  | { kind: 'signedIn'; session: SessionClaims; status: AccountStatus }
  | { kind: 'invalid' }
  /** The tries or the time of the challenges are used up. */
  | { kind: 'spent' }
  /** `until` in unix ms. */
  | { kind: 'limited'; until: number };

/**
 * Uses up a right code and opens the session. Every try counts. If the database's
 * response is lost, the code is used up, and the same call again is `invalid`.
 */
export async function redeemCode(call: SignInCall, attempt: Attempt): Promise<Redeemed> {
  const { db, settings, now } = call;
  const { phone } = attempt;
  const { macs, challenges, limits } = await hashesOf(call, attempt);
  const isAlone = attempt.challenges.length === 0;

  const sent = and(eq(codes.phone, phone), isIn(codes.challenge, challenges));
  const live = and(gt(codes.expiresAt, now), gt(codes.triesLeft, 0));
  const fitting = and(live, isIn(codes.mac, macs));
  const found = oneRow(
    [codes, and(sent, fitting)],
    [users, eq(users.id, userOf('phone', phone))],
    [linkCodes, eq(linkCodes.sentBy, codes.sentBy)],
    [claims, eq(claims.sentBy, codes.sentBy)],
  );

  const tx = transaction(db, {
    // The same code may have been sent to two of the challenges.
    from: sql`${found} limit 1`,
    facts: {
      triesAt: allowedAt(limits.tries),
      errorsAt: allowedAt(limits.wrongTries),
      wrongToday: totalOfDay('wrong_code', now),
      isKnown: rowExists(codes, sent),
      isLive: rowExists(codes, and(sent, live)),
      sentBy: columnFact<string | null>(codes.sentBy),
      sentAt: columnFact<number | null>(codes.sentAt),
      userId: columnFact<string | null>(users.id),
      // `openSignedIn` reads it: the session is limited.
      isContested: isContested(phone),
      status: columnFact<AccountStatus>(users.status),
      claimedBy: columnFact<string | null>(linkCodes.claimedBy),
      whatsappId: columnFact<string | null>(linkCodes.whatsappId),
      sealedNames: columnFact<string | null>(claims.sealed),
    },
    outcomes: (facts) => (isAlone ? ofNumber(facts, call) : ofChallenges(facts, call)),
    // Also of a right code whose number has neither user nor claim.
    otherwise: 'unknown',
  });

  tx.update(['wrong'], codes, { triesLeft: minus(codes.triesLeft, 1) }, and(sent, live));
  countOnDay(tx, ['wrong'], { kind: 'wrong_code', detail: isAlone ? 'number' : 'challenge' }, now);
  const userId = tx.fact('userId');
  await openSignedIn(tx, ['right'], {
    userId,
    phone,
    settings,
    now,
    device: call.device,
  });
  // Those of other windows, too.
  tx.delete(['right', 'claimed'], codes, eq(codes.phone, phone));
  if (isAlone) {
    recordEvents(tx, ['wrong'], subjectsIn(limits.wrongTries), { now });
    recordEvents(tx, [...triesOfNumber], subjectsIn(limits.tries), { now });
  } else {
    recordEvents(tx, ['unknown'], subjectsIn(limits.tries), { now });
    // A code that has signed somebody in no longer counts for the address; one of a claim never did.
    const event = and(
      isIn(rateLimitEvents.subject, subjectsIn(limits.codesFrom).flat()),
      eq(rateLimitEvents.at, tx.fact('sentAt')),
      eq(rateLimitEvents.by, tx.fact('sentBy')),
    );
    tx.delete(['right'], rateLimitEvents, event);
  }
  const { outcome, facts } = await tx.run();

  switch (outcome) {
    case 'tooManyTries':
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
      const { sentBy, claimedBy, sealedNames, whatsappId } = facts;
      const sealed = sealedNames && claimedBy ? { mac: claimedBy, sealed: sealedNames } : null;
      const claim = {
        sentBy: sentBy!,
        sealed,
        whatsappId: whatsappId!,
      };
      // If the Worker ends here, the number has no user, and needs a new link code.
      return { kind: 'signedIn', ...(await openClaimed(call, phone, claim)) };
    }
  }
}

type Outcome =
  | 'tooManyTries'
  | 'wrongBudgetSpent'
  | 'unknown'
  | 'tooManyWrong'
  | 'wrong'
  | 'spent'
  | 'right'
  | 'claimed';
type Outcomes = { [Each in Outcome]?: SQL | undefined };

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
  'triesAt' | 'errorsAt' | 'wrongToday' | 'isKnown' | 'isLive' | 'sentBy' | 'userId' | 'claimedBy',
  SQL
>;

/** Strangers may try codes of a number: four limits. */
function ofNumber(facts: Facts, { settings, now }: SignInCall): Outcomes {
  return {
    tooManyTries: gt(facts.triesAt, now),
    wrongBudgetSpent: gte(facts.wrongToday, settings.WRONG_TRIES_BUDGET_PER_DAY),
    unknown: not(facts.isLive),
    tooManyWrong: gt(facts.errorsAt, now),
    wrong: isNull(facts.sentBy),
    ...ofRightCode(facts),
  };
}

/** Only who requested a code knows its challenge: its own tries limit it. */
function ofChallenges(facts: Facts, { now }: SignInCall): Outcomes {
  return {
    wrong: and(facts.isLive, isNull(facts.sentBy)),
    spent: and(not(facts.isLive), facts.isKnown),
    tooManyTries: and(not(facts.isLive), gt(facts.triesAt, now)),
    ...ofRightCode(facts),
  };
}

/** A number without a user was claimed by the code that is right. */
const ofRightCode = ({ userId, claimedBy, sentBy }: Facts) => ({
  right: and(isNotNull(sentBy), isNotNull(userId)),
  claimed: isNotNull(claimedBy),
});

/**
 * The keyed hashes of an attempt, and the limits that it meets:
 * those of the number only if the caller knows no challenge.
 */
async function hashesOf(call: SignInCall, { phone, code, challenges }: Attempt) {
  const { settings } = call;
  const peppers = settings.CODE_PEPPER;
  const isAlone = challenges.length === 0;
  const [macs, hashes, ofCaller, ofNumber] = await Promise.all([
    keyedHashes(peppers, 'code', phone, code),
    Promise.all(challenges.map((each) => keyedHashes(peppers, 'challenge', phone, each))),
    limitsOfCaller(call),
    isAlone ? limitsOfNumber(settings, phone) : null,
  ]);

  return {
    macs,
    challenges: isAlone ? [newestCode] : hashes.flat(),
    limits: { ...ofCaller, wrongTries: ofNumber?.wrongTries ?? [] },
  };
}

/** Each count occurs once a day, so the budget is reported once. */
function reportWrongCode(wrong: number, isAlone: boolean, { settings }: SignInCall): void {
  const budget = settings.WRONG_TRIES_BUDGET_PER_DAY;
  log('info', 'code_wrong', { wrong, withChallenge: !isAlone });
  if (wrong === budget) log('error', 'wrong_codes_budget_spent', { wrong, budget });
}
