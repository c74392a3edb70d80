import { and, desc, eq, gt, isNotNull, not } from 'drizzle-orm';
import { codes, rateLimitEvents } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import { columnFact } from '../lib/expressions.ts';
import {
  allowedAtSql,
  type Limited,
  recordEventsByOutcome,
  subjectsIn,
} from '../lib/rate-limits.ts';
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
  wrongTriesWith,
} from './typed-code.ts';

/**
 * Signs in with the code of one of the challenges. Only who requested a code knows
 * its challenge, so that the code's own tries limit it, and nothing that strangers do.
 * The first condition that holds decides:
 *
 * | outcome        | condition                                | result     | rows                |
 * | -------------- | ---------------------------------------- | ---------- | ------------------- |
 * | `wrong`        | some code is live, and each live one is  | `invalid`  | see below           |
 * |                | another                                  |            |                     |
 * | `spent`        | a challenge is known, its tries or time  | `spent`    | none                |
 * |                | are used up                              |            |                     |
 * | `tooManyTries` | the address, or of IPv6 its network,     | `limited`  | none                |
 * |                | tried too many unknown challenges        |            |                     |
 * | `right`        | the number has a user                    | `signedIn` | `sessions`; `codes` |
 * | `claimed`      | it has none; the code was sent for a     | `signedIn` | `codes`             |
 * |                | claim                                    |            |                     |
 * | `unknown`      | no challenge is known, or the code opens | `invalid`  | try                 |
 * |                | nothing                                  |            |                     |
 *
 * A try is a row of `rate_limit_events` for the address, and of IPv6 one for its network. `wrong`
 * takes one from `codes.tries_left` of each live code, and adds one to the day in `daily_totals`,
 * and an event for each challenge to `rate_limit_events`: as many as a code has tries end it, too.
 * `right` and `claimed` delete all `codes` of the number; `right` also deletes the events by which
 * the code counted for the address and its network, and sets `users.last_seen_at` if that is an
 * hour old. A session is limited where the number is contested.
 *
 * After `claimed` a second transaction signs in, of a new user if there is none yet
 * (`openClaimed`). If it fails, the code is used up, and the number needs another one. A parallel
 * call with a right code, or the same one after a lost response, finds no code: `unknown`.
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
  const hashed = hashes.flat();
  const code = await typedCode(scope, typed, hashed);

  const tx = decideByChallenge(scope, code, tries);

  // Before the event of this try, which may end the code.
  countWrongCode(tx, code, { detail: 'challenge', now });
  recordEventsByOutcome(tx, now, { unknown: subjectsIn(tries), wrong: wrongTriesWith(hashed) });
  await openSessionByCode(tx, scope, phone);

  // One of a claim never counted for the address.
  const isEventOfCode = and(
    isIn(rateLimitEvents.subject, subjectsIn(codesFrom).flat()),
    eq(rateLimitEvents.at, tx.fact('sentAt')),
    eq(rateLimitEvents.by, tx.fact('sentBy')),
  );
  tx.delete(['right'], rateLimitEvents, isEventOfCode);

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
