import type { User, Withdrawal } from '#db/schema';
import type { KeptChoice } from '../billing/start-choice.ts';
import { isStripeFailure, withStripe } from '../billing/stripe-client.ts';
import { currency } from '../contract/plans.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { type ConcludedContract, type FoundContract, readContract } from './concluded-contract.ts';
import { isUnconfirmed } from './objection.ts';
import { withdrawableUntil } from './withdrawal-right.ts';
import { lastStatement } from './shown-statement.ts';

type Search = {
  settings: Settings;
  user: User;
  stripeId: string | null;
  statements: Withdrawal[];
  choices: KeptChoice[];
};

/** Null while Stripe does not tell. */
export type ShownContract = Omit<ConcludedContract, 'subscription' | 'payments'> & {
  payments: ConcludedContract['payments'] | null;
};

/**
 * The contract that could be withdrawn now. None where an open statement
 * means it already. While Stripe does not tell, the one that our own
 * records know.
 */
export async function withdrawableContract(search: Search): Promise<ShownContract | null> {
  const { statements } = search;
  if (statements.some(meansAnyContract)) return null;

  const found = await readIfTold(search);
  return found ? found.contract : recordedContract(search);
}

const meansAnyContract = (statement: Withdrawal): boolean =>
  statement.state === 'received' && statement.subscription === null && !isUnconfirmed(statement);

/** Throws 503 if our records cannot tell. */
function recordedContract(search: Search): ShownContract | null {
  const { user, statements, settings } = search;
  const last = lastStatement(statements);
  const choice = choiceSince(search, last);
  if (last?.state === 'received' || (last && !choice)) return null;
  if (!mayHaveContract(search, choice)) return null;

  if (choice?.tier !== user.tier) throw new RequestError('unavailable');

  const until = untilOf(choice, settings);
  if (Date.now() >= until) throw new RequestError('unavailable');

  const { tier, at: concludedAt, startNow } = choice;
  return { tier, concludedAt, until, startNow, currency, payments: null };
}

/** The newest order, unless a statement came after it. */
function choiceSince({ choices: [newest] }: Search, last: Withdrawal | undefined) {
  return newest && newest.at > (last?.submittedAt ?? 0) ? newest : undefined;
}

const untilOf = ({ at }: KeptChoice, settings: Settings): number =>
  withdrawableUntil(at, settings.require('WITHDRAWAL_DAYS'));

function mayHaveContract({ user, settings }: Search, choice: KeptChoice | undefined): boolean {
  return hasPlan(user) || (choice !== undefined && Date.now() < untilOf(choice, settings));
}

const hasPlan = ({ tier, renewalAt }: User): boolean => tier !== 'free' || renewalAt !== null;

export async function hasContract(search: Search, statement: Withdrawal): Promise<boolean> {
  if (statement.subscription !== null) return true;

  const found = await readIfTold(search, statement);
  return found === null || found.contract !== null;
}

type Meant =
  | { kind: 'contract'; contract: ConcludedContract; at: number }
  | { kind: 'repeated'; last: Withdrawal }
  | { kind: 'unknown' };

/** Throws 409 where there is nothing to withdraw from. */
export async function meantBy(search: Search): Promise<Meant> {
  const last = lastStatement(search.statements);
  const found = await readIfTold(search);
  if (found?.contract) return { kind: 'contract', ...found };

  if (!found) {
    const choice = choiceSince(search, last);
    // Without another order, it is the same contract.
    if (last && !choice) return { kind: 'repeated', last };
    if (mayHaveContract(search, choice)) return { kind: 'unknown' };
  }
  if (last && found && (!found.isSubscribed || last.state === 'received'))
    return { kind: 'repeated', last };
  throw new RequestError('conflict', {
    message: 'There is no contract that you could withdraw from.',
  });
}

/** Null where Stripe does not tell. */
async function readIfTold(search: Search, made?: Withdrawal): Promise<FoundContract | null> {
  const { settings, user, stripeId, statements, choices } = search;
  const nothing = {
    contract: null,
    isSubscribed: false,
    isKnown: true,
  };
  if (stripeId === null) return hasPlan(user) ? null : nothing;

  const withdrawn = statements.flatMap(({ subscription }) => subscription ?? []);
  const terms = {
    userId: user.id,
    days: settings.require('WITHDRAWAL_DAYS'),
    choices,
    withdrawn,
    ...(made && { statement: made.id, statedAt: made.submittedAt }),
  };
  try {
    const found = await withStripe(settings, (stripe) => readContract(stripe, stripeId, terms));
    return found.contract || found.isKnown ? found : null;
  } catch (error) {
    if (isStripeFailure(error)) return null;
    throw error;
  }
}
