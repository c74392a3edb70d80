import { and, desc, eq, gt, isNotNull, not } from 'drizzle-orm';
import { codes, rateLimitEvents } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import { columnFact } from '../lib/expressions.ts';
import { allowedAtSql, type Limited, recordEvents, subjectsIn } from '../lib/rate-limits.ts';
import { isIn } from '../lib/sql.ts';
import { transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import { limitsOfCaller } from './code-limits.ts';
import type { SignInScope } from './issue-code.ts';
import {
  countWrongCode,
  type Redeemed,
  reportWrongCode,
  signedIn,
  signedInByClaim,
  signInOutcomes,
  type Typed,
  type TypedCode,
  typedCode,
  openSessionByCode,
} from './typed-code.ts';

/**
 * Signs in with the code of one of the challenges. Only who requested a code knows
 * its challenge, so that the code's own tries limit it, and nothing that strangers do.
 * The first that holds is the outcome:
 *
 * | outcome        | means                                             | what is written              |
 * | -------------- | ------------------------------------------------- | ---------------------------- |
 * | `wrong`        | each live code is another one                     | a try of each, and of day    |
 * | `spent`        | no code is live: tries or time are used up        | nothing                      |
 * | `tooManyTries` | the address has tried too many unknown challenges | nothing                      |
 * | `right`        | the number has a user                             | a session; all codes deleted |
 * | `claimed`      | it has none; the code was sent for a claim        | all codes deleted            |
 * | `unknown`      | no challenge is known, or the code opens nothing  | a try of the address         |
 *
 * After `right` the request of its code no longer counts for the address. After `claimed`
 * a second transaction creates user and session (`openClaimed`).
 */
export async function redeemByChallenge(
  scope: SignInScope,
  typed: Typed,
  challenges: string[],
): Promise<Redeemed> {
  const { settings, now } = scope;
  const { phone } = typed;
  const peppers = settings.CODE_PEPPER;
  const [hashes, { tries, codesFrom }] = await Promise.all([
    Promise.all(challenges.map((each) => keyedHashes(peppers, 'challenge', phone, each))),
    limitsOfCaller(scope),
  ]);
  const code = await typedCode(scope, typed, hashes.flat());

  const tx = decideByChallenge(scope, code, tries);

  recordEvents(tx, ['unknown'], subjectsIn(tries), { now });
  countWrongCode(tx, code, { detail: 'challenge', now });
  await openSessionByCode(tx, scope, phone);

  // One of a claim never counted for the address.
  const event = and(
    isIn(rateLimitEvents.subject, subjectsIn(codesFrom).flat()),
    eq(rateLimitEvents.at, tx.fact('sentAt')),
    eq(rateLimitEvents.by, tx.fact('sentBy')),
  );
  tx.delete(['right'], rateLimitEvents, event);

  const { outcome, facts } = await tx.run();

  switch (outcome) {
    case 'tooManyTries':
      return { kind: 'limited', until: facts.addressAt };
    case 'spent':
      return { kind: 'spent' };
    case 'unknown':
      return { kind: 'invalid' };
    case 'wrong':
      reportWrongCode(scope, facts, 'challenge');
      return { kind: 'invalid' };
    case 'right':
      return signedIn(facts, tx.id);
    case 'claimed':
      return signedInByClaim(scope, phone, facts);
  }
}

function decideByChallenge({ db, now }: SignInScope, code: TypedCode, tries: Limited[]) {
  const { isRight, isLive } = code.facts;
  return transaction(db, {
    // The right one of the codes, else a live one, else any.
    from: sql`${code.from} order by ${desc(isRight)}, ${desc(isLive)} limit 1`,
    facts: {
      ...code.facts,
      sentAt: columnFact<number | null>(codes.sentAt),
      addressAt: allowedAtSql(tries),
    },

    outcomes: (facts) => ({
      wrong: and(facts.isLive, not(facts.isRight)),
      spent: and(not(facts.isLive), isNotNull(facts.sentBy)),
      tooManyTries: and(not(facts.isLive), gt(facts.addressAt, now)),
      ...signInOutcomes(facts),
    }),
    otherwise: 'unknown',
  });
}
