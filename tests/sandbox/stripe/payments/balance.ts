import type { Stripe } from 'stripe';
import type { BalanceTransaction } from '../objects.ts';
import { newId } from '../table.ts';
import type { World } from '../world.ts';

/** What moves money, in whole cents of `currency`. */
type Source = { id: string; currency: string };

/** Stripe's fee for a card payment in the USA: 2.9 % and 30 cents. Refunds do not give it back. */
const feeOf = (amount: number): number => Math.round(amount * 0.029) + 30;

/** Records what a payment, or a refund (a negative amount), changes in the account's balance. */
export function enterBalance(
  world: World,
  type: 'charge' | 'refund' | 'refund_failure',
  amount: number,
  { id: source, currency }: Source,
): BalanceTransaction {
  const fee = type === 'charge' ? feeOf(amount) : 0;
  return world.balanceTransactions.insert({
    id: newId('txn_3'),
    object: 'balance_transaction',
    amount,
    available_on: world.now(),
    created: world.now(),
    currency,
    fee,
    fee_details: feeDetails(fee, currency),
    net: amount - fee,
    reporting_category: type,
    source,
    type,
  });
}

function feeDetails(amount: number, currency: string): Stripe.BalanceTransaction.FeeDetail[] {
  if (amount === 0) return [];

  const description = 'Stripe processing fees';
  return [
    {
      amount,
      application: null,
      currency,
      description,
      type: 'stripe_fee',
    },
  ];
}
