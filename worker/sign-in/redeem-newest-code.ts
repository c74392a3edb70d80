import { gt, gte, not } from 'drizzle-orm';
import {
  allowedAtSql,
  type Limited,
  recordEventsByOutcome,
  subjectsIn,
} from '../lib/rate-limits.ts';
import { transaction } from '../lib/transaction.ts';
import { untilNextBudget } from './code-budget.ts';
import { limitsOfCaller, limitsOfNumber } from './code-limits.ts';
import type { SignInScope } from './issue-code.ts';
import { newestCode } from './stored-codes.ts';
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
 * Signs in with the newest code of a number, for callers without its challenge (with one:
 * `redeem-by-challenge.ts`). Strangers may type one, too, so that limits hold for the address,
 * for the number, and for all numbers together. The first condition that holds decides:
 *
 * | outcome            | condition                        | result     | rows                     |
 * | ------------------ | -------------------------------- | ---------- | ------------------------ |
 * | `tooManyTries`     | the address, or of IPv6 its      | `limited`  | none                     |
 * |                    | network, tried too often         |            |                          |
 * | `wrongBudgetSpent` | the wrong codes of today reach   | `limited`  | try                      |
 * |                    | their budget                     |            |                          |
 * | `unknown`          | the newest code is missing, old  | `invalid`  | try                      |
 * |                    | or used up                       |            |                          |
 * | `tooManyWrong`     | the number had too many wrong    | `limited`  | try                      |
 * |                    | codes                            |            |                          |
 * | `wrong`            | the newest code is another one   | `invalid`  | try; see below           |
 * | `right`            | the number has a user            | `signedIn` | try; `sessions`; `codes` |
 * | `claimed`          | it has none; the code was sent   | `signedIn` | try; `codes`             |
 * |                    | for a claim                      |            |                          |
 * | `unknown`          | it has none; the code was sent   | `invalid`  | try; the code stays      |
 * |                    | for no claim                     |            |                          |
 *
 * A try is a row of `rate_limit_events` for the address, and of IPv6 one for its network. `wrong`
 * also adds one for the number, takes one from `codes.tries_left` of the newest code, and adds one
 * to the day in `daily_totals`. `right` and `claimed` delete all `codes` of the number. A session
 * also sets `users.last_seen_at` if that is an hour old; it is limited where the number is
 * contested.
 *
 * After `claimed` a second transaction signs in, of a new user if there is none yet
 * (`openClaimed`). If it fails, the code is used up, and the number needs another one. A parallel
 * call with a right code, or the same one after a lost response, finds no code: `unknown`.
 */
export async function redeemNewestCode(
  scope: SignInScope,
  typed: Typed,
): Promise<Exclude<Redeemed, { kind: 'spent' }>> {
  const { settings, now } = scope;
  const { phone } = typed;
  const [code, { tries }, { wrongTries }] = await Promise.all([
    typedCode(scope, typed, [newestCode]),
    limitsOfCaller(scope),
    limitsOfNumber(settings, phone),
  ]);

  const tx = decideByNumber(scope, code, { tries, wrongTries });

  const [ofAddress, ofNumber] = [subjectsIn(tries), subjectsIn(wrongTries)];
  recordEventsByOutcome(tx, now, {
    wrongBudgetSpent: ofAddress,
    unknown: ofAddress,
    tooManyWrong: ofAddress,
    wrong: [...ofAddress, ...ofNumber],
    right: ofAddress,
    claimed: ofAddress,
  });
  countWrongCode(tx, code, { detail: 'number', now });
  await openSessionByCode(tx, scope, phone);

  const { outcome, facts } = await tx.run();

  switch (outcome) {
    case 'tooManyTries':
      return { kind: 'limited', until: facts.addressAt };
    case 'wrongBudgetSpent':
      return { kind: 'limited', until: now + 1000 * untilNextBudget(now) };
    case 'tooManyWrong':
      return { kind: 'limited', until: facts.numberAt };
    case 'unknown':
      return { kind: 'invalid' };
    case 'wrong':
      reportWrongCode(scope, facts, 'number');
      return { kind: 'invalid' };
    case 'right':
      return signedIn(facts, tx.id);
    case 'claimed':
      return signedInByClaim(scope, phone, facts);
  }
}

type Limits = { tries: Limited[]; wrongTries: Limited[] };

function decideByNumber(
  { db, settings, now }: SignInScope,
  code: TypedCode,
  { tries, wrongTries }: Limits,
) {
  return transaction(db, {
    from: code.from,
    facts: {
      ...code.facts,
      addressAt: allowedAtSql(tries),
      numberAt: allowedAtSql(wrongTries),
    },

    outcomes: (facts) => ({
      tooManyTries: gt(facts.addressAt, now),
      wrongBudgetSpent: gte(facts.wrongToday, settings.require('WRONG_TRIES_BUDGET_PER_DAY')),
      unknown: not(facts.isLive),
      tooManyWrong: gt(facts.numberAt, now),
      wrong: not(facts.isRight),
      ...signInOutcomes(facts),
    }),
    otherwise: 'unknown',
  });
}
