import type { User } from '#db/schema';
import type { KeptChoice } from '../billing/start-choice.ts';
import { StripeUnavailable, withStripe } from '../billing/stripe-client.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { type ConcludedContract, type Found, readContract } from './concluded-contract.ts';
import { isUnconfirmed } from './objection.ts';
import { lastStatement } from './shown-statement.ts';
import type { Statement } from './statements.ts';

/** Whose contract is looked for, and what the database has of that person. */
type Search = {
  settings: Settings;
  userId: string;
  stripeId: string | null;
  statements: Statement[];
  choices: KeptChoice[];
};

/**
 * The contract that could be withdrawn now. None where an open
 * statement means it already, also while Stripe does not respond.
 */
export async function withdrawableContract(search: Search): Promise<ConcludedContract | null> {
  const { statements } = search;
  if (statements.some(meansAnyContract)) return null;

  const found = await readUnlessSilent(search);
  if (!(found instanceof StripeUnavailable)) return found.contract;

  const isOpen = lastStatement(statements)?.state === 'received';
  if (isOpen) return null;
  throw found;
}

const meansAnyContract = (statement: Statement): boolean =>
  statement.state === 'received' && statement.subscription === null && !isUnconfirmed(statement);

/**
 * Whether a statement has a contract to end.
 * While Stripe does not respond, it is believed.
 */
export async function hasContract(search: Search, statement: Statement): Promise<boolean> {
  if (statement.subscription !== null) return true;

  const found = await readUnlessSilent(search, statement.submittedAt);
  return found instanceof StripeUnavailable || found.contract !== null;
}

/** What a person means who withdraws; `unknown` while Stripe does not respond. */
type Meant =
  | { kind: 'contract'; contract: ConcludedContract; at: number }
  | { kind: 'repeated'; last: Statement }
  | { kind: 'unknown' };

/** Throws 409 where there is nothing to withdraw from. */
export async function meantBy(user: User, search: Search): Promise<Meant> {
  const found = await readUnlessSilent(search);
  if (found instanceof StripeUnavailable) {
    if (hasPlan(user)) return { kind: 'unknown' };
    throw found;
  }
  if (found.contract) return { kind: 'contract', ...found };

  const last = lastStatement(search.statements);
  if (last && !found.isSubscribed) return { kind: 'repeated', last };
  throw new RequestError('conflict', {
    message: 'There is no contract that you could withdraw from.',
  });
}

const hasPlan = ({ tier, renewalAt }: User): boolean => tier !== 'free' || renewalAt !== null;

/** Returns Stripe's silence: what it means depends on the caller. */
async function readUnlessSilent(
  { settings, userId, stripeId, statements, choices }: Search,
  statedAt?: number,
): Promise<Found | StripeUnavailable> {
  if (stripeId === null) return { contract: null, isSubscribed: false };

  const withdrawn = statements.flatMap(({ subscription }) => subscription ?? []);
  const terms = {
    userId,
    days: settings.require('WITHDRAWAL_DAYS'),
    choices,
    withdrawn,
    ...(statedAt !== undefined && { statedAt }),
  };
  try {
    return await withStripe(settings, (stripe) => readContract(stripe, stripeId, terms));
  } catch (error) {
    if (error instanceof StripeUnavailable) return error;
    throw error;
  }
}
