import type { Stripe } from 'stripe';
import { wholeList } from '../billing/stripe-client.ts';
import { idOf } from '../billing/subscriptions.ts';
import { refundOf, type PaidPeriod } from './withdrawal-right.ts';

/*
 * What an invoice asks is paid by a charge of its own and by a credit on the
 * customer's balance. What is less than Stripe charges becomes a debt there,
 * which the charge of a later invoice pays. A credit is a negative balance.
 */

/**
 * A payment of a contract; what a statement gives back
 * of it (`refund`), and to the balance (`credit`).
 */
export type Payment = PaidPeriod & {
  invoice: string;
  refund: number;
  credit: number;
  /** Of the later invoice; null: its own. */
  laterIntent: string | null;
};

type Conclusion = { concludedAt: number; startNow: boolean };

/** `charges`: by the id of their intent. */
export type Billed = {
  invoices: Stripe.Invoice[];
  charges: ReadonlyMap<string, Stripe.Charge>;
};

type Payer = { subscription: string; customer: string };

/** Stripe expands four levels: no list of invoices has its charges. */
export async function billedTo(stripe: Stripe, { subscription, customer }: Payer): Promise<Billed> {
  const expand = ['data.payments'];
  const [invoices, charges] = await Promise.all([
    stripe.invoices
      .list({
        subscription,
        limit: 100,
        expand,
      })
      .autoPagingToArray(wholeList),
    stripe.charges.list({ customer, limit: 100 }).autoPagingToArray(wholeList),
  ]);

  const paid = charges.filter(({ status }) => status === 'succeeded');
  return {
    invoices,
    charges: new Map(paid.map((charge) => [idOf(charge.payment_intent) ?? '', charge])),
  };
}

/**
 * The payments since a contract was concluded, for a statement made at `at`
 * (unix seconds). Oldest first: a debt comes back before the rest of the
 * payment that paid it, of which no more is given back than there is.
 */
export function paymentsOf(
  { invoices, charges }: Billed,
  { concludedAt, startNow }: Conclusion,
  at: number,
): Payment[] {
  const chargeOf = (invoice: Stripe.Invoice) => charges.get(intentOf(invoice) ?? '') ?? null;
  const since = invoices.filter(({ created }) => created * 1000 >= concludedAt).toReversed();
  const givenBack = new Map<string, number>();

  return since.flatMap((invoice, index) => {
    const line = chargedLine(invoice);
    const following = since.slice(index + 1);
    const { charge, fromBalance, isLater, ...source } = sourceOf(invoice, following, chargeOf);
    if (invoice.status !== 'paid' || !line || source.paid + fromBalance <= 0) return [];

    const { id, total, currency, post_payment_credit_notes_amount: noted } = invoice;
    const { start, end } = line.period;
    // Earlier credit notes have given a part back.
    const creditable = total - noted;
    const before = givenBack.get(charge?.id ?? '') ?? 0;
    const rest = Math.min(leftOf(charge) - before, creditable);
    const period = { paid: source.paid, rest, start, end, currency };
    const refund = refundOf(period, startNow, at);
    if (charge && noted === 0) givenBack.set(charge.id, before + refund);

    const balance = {
      ...period,
      paid: fromBalance,
      rest: creditable - refund,
    };
    const credit = refundOf(balance, startNow, at);
    const laterIntent = isLater ? idOf(charge?.payment_intent) : null;
    return [{ ...period, invoice: id, refund, credit, laterIntent }];
  });
}

type PaymentSource = {
  charge: Stripe.Charge | null;
  paid: number;
  fromBalance: number;
  isLater: boolean;
};

function sourceOf(
  invoice: Stripe.Invoice,
  following: Stripe.Invoice[],
  chargeOf: (invoice: Stripe.Invoice) => Stripe.Charge | null,
): PaymentSource {
  const { amount_paid: paid, ending_balance } = invoice;
  const [before, after] = [balanceBefore(invoice), ending_balance ?? 0];
  const fromBalance = Math.max(0, -before) - Math.max(0, -after);
  const debt = Math.max(0, after) - Math.max(0, before);
  // The charge has paid earlier debts as well.
  const charge = chargeOf(invoice);
  const own = {
    charge,
    paid: charge ? Math.max(0, paid + Math.min(0, debt)) : 0,
  };
  if (debt <= 0) return { ...own, fromBalance, isLater: false };

  const payer = following.find(takesDebts);
  if (!payer)
    return {
      ...own,
      fromBalance: fromBalance + debt,
      isLater: false,
    };

  const later = {
    charge: chargeOf(payer),
    paid: Math.min(debt, balanceBefore(payer)),
  };
  if (later.charge) return { ...later, fromBalance, isLater: true };

  const isCredited = payer.status === 'paid';
  return {
    ...own,
    fromBalance: fromBalance + (isCredited ? debt : 0),
    isLater: false,
  };
}

/** A voided invoice leaves the debt on the balance. */
function takesDebts(invoice: Stripe.Invoice): boolean {
  const { status, ending_balance: after } = invoice;
  const isFinal = status === 'paid' || status === 'open' || status === 'uncollectible';
  return isFinal && balanceBefore(invoice) > 0 && (after ?? 0) <= 0;
}

/**
 * The customer's balance before an invoice, by its amounts: what
 * is due is its total with the balance that it took away. People
 * have found 0 in `starting_balance` (stripe-dotnet#3225).
 */
function balanceBefore(invoice: Stripe.Invoice): number {
  const { amount_due: due, ending_balance: after, total } = invoice;
  return due + invoice.pre_payment_credit_notes_amount + (after ?? 0) - total;
}

function intentOf({ payments }: Stripe.Invoice): string | null {
  const paid = payments?.data.find(({ status }) => status === 'paid');
  return idOf(paid?.payment.payment_intent);
}

const leftOf = (charge: Stripe.Charge | null): number =>
  charge ? charge.amount - charge.amount_refunded : 0;

export const chargedLine = ({ lines }: Stripe.Invoice) =>
  lines.data.find(({ amount }) => amount > 0);

export function sumOf(payments: Payment[], amount: 'paid' | 'refund'): number {
  return payments.reduce((sum, payment) => sum + payment[amount], 0);
}
