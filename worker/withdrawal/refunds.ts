import type { Stripe } from 'stripe';
import { and, eq, inArray } from 'drizzle-orm';
import { customers, withdrawals, type Withdrawal } from '#db/schema';
import { refusalCode } from '../billing/stripe-client.ts';
import type { Database } from '../lib/database.ts';
import { expandedInNote, noteOf } from './credit-notes.ts';
import type { Payment } from './payments.ts';
import { isUnderWaySql } from './statements.ts';

export type State = Pick<Withdrawal, 'state' | 'reason'>;
type Refunded = State & { amount: number };

/**
 * `attempt` is part of the idempotency keys, since
 * Stripe replays a 5xx for a day (`lease.ts`).
 */
type Cause = { withdrawal: string; attempt: number };

export async function refundPayment(
  stripe: Stripe,
  cause: Cause,
  payment: Payment,
): Promise<Refunded> {
  const { laterIntent } = payment;
  const isNothing = payment.refund + payment.credit === 0;

  try {
    const earlier = await noteOf(stripe, cause.withdrawal, payment.invoice);
    if (!earlier && isNothing)
      return {
        state: 'done',
        reason: null,
        amount: 0,
      };

    const note = earlier ?? (await createNote(stripe, cause, payment));
    const refunds = laterIntent
      ? await refundsOfLater(stripe, cause, note, laterIntent)
      : note.refunds.map(({ refund }) => refund as Stripe.Refund);
    return refundedBy(refunds);
  } catch (error) {
    const code = refusalCode(error);
    if (code === null) throw error;
    return {
      state: 'needs_owner',
      reason: code,
      amount: 0,
    };
  }
}

/**
 * What was paid from the customer's balance goes back there. A refund of
 * another invoice's payment is not the note's own, so it comes after it.
 */
function createNote(stripe: Stripe, { withdrawal, attempt }: Cause, payment: Payment) {
  const { invoice, refund, credit, laterIntent } = payment;
  const note: Stripe.CreditNoteCreateParams = {
    invoice,
    amount: refund + credit,
    ...(refund > 0 && { [laterIntent ? 'out_of_band_amount' : 'refund_amount']: refund }),
    ...(credit > 0 && { credit_amount: credit }),
    reason: 'order_change',
    memo: 'Withdrawal from the contract',
    metadata: { withdrawal },
    email_type: 'none',
    expand: expandedInNote,
  };
  return stripe.creditNotes.create(note, {
    idempotencyKey: `withdrawal:${withdrawal}:${invoice}:${refund}:${credit}:${attempt}`,
  });
}

async function refundsOfLater(
  stripe: Stripe,
  { withdrawal, attempt }: Cause,
  { id, out_of_band_amount: amount }: Stripe.CreditNote,
  payment_intent: string,
): Promise<Stripe.Refund[]> {
  if (!amount) return [];

  const { data } = await stripe.refunds.list({ payment_intent, limit: 100 });
  const earlier = data.find(({ metadata }) => metadata?.['credit_note'] === id);
  if (earlier) return [earlier];

  const refund = {
    payment_intent,
    amount,
    metadata: { withdrawal, credit_note: id },
  };
  const idempotencyKey = `withdrawal:${withdrawal}:${id}:${attempt}`;
  return [await stripe.refunds.create(refund, { idempotencyKey })];
}

function refundedBy(refunds: Stripe.Refund[]): Refunded {
  const amount = refunds.reduce((sum, { amount: part }) => sum + part, 0);
  const statuses = refunds.map(({ status }) => status);
  const failed = statuses.find((status) => !onItsWay.includes(status ?? ''));
  if (failed !== undefined)
    return {
      state: 'needs_owner',
      reason: `refund_${failed ?? 'unknown'}`,
      amount,
    };

  const isPending = statuses.includes('pending');
  return {
    state: isPending ? 'refunding' : 'done',
    reason: null,
    amount,
  };
}

const onItsWay = ['pending', 'succeeded'];

export function worstOf(states: State[]): State {
  const [worst] = states.toSorted(
    (a, b) => order.indexOf(a.state as 'done') - order.indexOf(b.state as 'done'),
  );
  return worst
    ? {
        state: worst.state,
        reason: worst.reason,
      }
    : {
        state: 'done',
        reason: null,
      };
}

const order = ['needs_owner', 'refunding', 'done'] as const;

export const isRefund = ({ type }: { type: string }): boolean => refundEvents.includes(type);

const refundEvents = ['refund.updated', 'refund.failed'];

export async function refundChanged(db: Database, stripeId: string, now: number): Promise<void> {
  const payer = db
    .select({ id: customers.userId })
    .from(customers)
    .where(eq(customers.stripeId, stripeId));
  const waits = inArray(withdrawals.state, ['refunding', 'done']);
  await db
    .update(withdrawals)
    .set({ dueAt: now })
    .where(and(inArray(withdrawals.userId, payer), waits, isUnderWaySql));
}
