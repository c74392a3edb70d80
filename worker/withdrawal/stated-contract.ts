import type { Withdrawal } from '#db/schema';
import type { Stripe } from 'stripe';
import { choicesOf } from '../billing/start-choice.ts';
import type { EnvScope } from '../env.ts';
import { readContract, type ConcludedContract } from './concluded-contract.ts';
import { contractColumns, statementsOf, updateUnderWay } from './statements.ts';

type Case = {
  statement: Withdrawal;
  stripeId: string;
  userId: string;
};

type Terms = Pick<ConcludedContract, 'subscription' | 'concludedAt' | 'startNow'>;
export type Begun = {
  statement: Withdrawal;
  terms: Terms;
  at: number;
};

/**
 * The contract that the statement names, or the one that it meant. That
 * one is saved before anything changes at Stripe: an interrupted
 * settlement goes on with it, and with no later one. Null if there is
 * none, or the statement was stopped.
 */
export async function nameContract(
  stripe: Stripe,
  { db, settings }: EnvScope,
  { statement, stripeId, userId }: Case,
): Promise<Begun | null> {
  const named = begunOf(statement);
  if (named) return named;

  const choices = await choicesOf(db, userId);
  const others = (await statementsOf(db, userId)).filter(({ id }) => id !== statement.id);
  const withdrawn = others.flatMap(({ subscription }) => subscription ?? []);
  const { submittedAt: statedAt } = statement;
  const asked = {
    userId,
    days: settings.require('WITHDRAWAL_DAYS'),
    choices,
    withdrawn,
    statement: statement.id,
    statedAt,
  };
  const found = await readContract(stripe, stripeId, asked);
  if (!found.contract) return null;

  const columns = contractColumns(found.contract, found.at);
  const { rowsAffected } = await updateUnderWay(db, statement.id, columns);
  return rowsAffected > 0 ? begunOf({ ...statement, ...columns }) : null;
}

function begunOf(statement: Withdrawal): Begun | null {
  const { subscription, concludedAt, startNow, billedAt } = statement;
  if (subscription === null || concludedAt === null || billedAt === null) return null;

  const terms = { subscription, concludedAt, startNow: startNow ?? false };
  return { statement, terms, at: billedAt };
}
