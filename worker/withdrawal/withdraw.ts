import type { LeasedCustomer, LeaseResult } from '../billing/lease.ts';
import { choicesOf } from '../billing/start-choice.ts';
import { batch } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import type { EnvScope } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import { hasContract, meantBy } from './find-contract.ts';
import { isUnconfirmed } from './objection.ts';
import { recordOwnStatement, repeatStatement } from './own-statement.ts';
import { settleStatement } from './settlement.ts';
import { type Recorded, statementsOf } from './statements.ts';

/**
 * A person withdraws from their contract. The statement is recorded before
 * anything changes at Stripe: from then on it counts. Whoever has stated
 * already confirms or repeats that statement. Throws 409 where there is
 * nothing to withdraw from.
 */
export async function withdrawFrom(
  scope: EnvScope & Scope<'language' | 'now'>,
  leased: LeasedCustomer,
  email: string | null,
): Promise<LeaseResult<Recorded>> {
  const { db, settings, language, now } = scope;
  const { user, customer } = leased;
  const history = await batch(db, {
    statements: statementsOf(db, user.id),
    choices: choicesOf(db, user.id),
  });
  const search = { settings, user, stripeId: customer.stripeId, ...history };
  const again = { email, now };

  const waiting = history.statements.find(isUnconfirmed);
  if (waiting && (await hasContract(search, waiting)))
    return settleSoon(scope, leased, await repeatStatement(scope, waiting, again));

  const meant = await meantBy(search);
  if (meant.kind === 'repeated') return { result: await repeatStatement(scope, meant.last, again) };

  const recorded = await recordOwnStatement(scope, {
    userId: user.id,
    contact: user.phone,
    email,
    language,
    now,
    found: meant.kind === 'contract' ? meant : null,
  });
  return settleSoon(scope, leased, recorded);
}

/** The cron job goes on with what fails here. */
async function settleSoon(
  scope: EnvScope,
  leased: LeasedCustomer,
  recorded: Recorded,
): Promise<LeaseResult<Recorded>> {
  try {
    const { result: statement, ...released } = await settleStatement(
      scope,
      leased,
      recorded.statement,
    );
    return { result: { ...recorded, statement }, ...released };
  } catch (error) {
    log('error', 'withdrawal_postponed', {
      id: recorded.statement.id,
      ...describeError(error),
    });
    return { result: recorded, changes: { dueAt: Date.now() } };
  }
}
