import { gt, gte, not } from 'drizzle-orm';
import { allowedAt, type Limited, recordEventsByOutcome, subjectsIn } from '../lib/rate-limits.ts';
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
  signsIn,
  type Typed,
  type TypedCode,
  typedCode,
  useRightCode,
} from './typed-code.ts';

/**
 * Signs in with the newest code of a number. Strangers may type one, too, so
 * that limits hold for the address, for the number, and for all numbers together.
 *
 * | outcome            | means                                           |
 * | ------------------ | ----------------------------------------------- |
 * | `tooManyTries`     | the address or its network has tried too often  |
 * | `wrongBudgetSpent` | all numbers together had too many wrong codes   |
 * | `unknown`          | no code is live, or the right one opens nothing |
 * | `tooManyWrong`     | the number had too many wrong codes             |
 * | `wrong`            | the live code is another one                    |
 * | `right`            | the number's user gets a session                |
 * | `claimed`          | the number becomes a user, who gets a session   |
 *
 * If the response of the database is lost, a right code is used
 * up, and the same call again is `invalid`.
 */
export async function redeemNewestCode(scope: SignInScope, typed: Typed): Promise<Redeemed> {
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
  await useRightCode(tx, scope, phone);
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
      reportWrongCode(scope, facts, false);
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
      addressAt: allowedAt(tries),
      numberAt: allowedAt(wrongTries),
    },
    outcomes: (facts) => ({
      tooManyTries: gt(facts.addressAt, now),
      wrongBudgetSpent: gte(facts.wrongToday, settings.require('WRONG_TRIES_BUDGET_PER_DAY')),
      unknown: not(facts.isLive),
      tooManyWrong: gt(facts.numberAt, now),
      wrong: not(facts.isRight),
      ...signsIn(facts),
    }),
    otherwise: 'unknown',
  });
}
