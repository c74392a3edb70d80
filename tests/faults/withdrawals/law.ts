/** What a paid invoice says; instants in unix seconds, amounts in whole cents. */
export type Billed = {
  billing_reason: string | null;
  created: number;
  amount_paid: number;
  /** Below zero: a credit. */
  starting_balance: number;
  ending_balance: number | null;
  lines: { data: { amount: number; period: { start: number; end: number } }[] };
};

/**
 * What the law leaves to a person who withdraws at `at`, computed without the product's code from what Stripe has billed:
 * articles 13(1) (all payments of the contract), 14(3) and 14(4) (a share for the time, if it was asked for).
 */
export const owedByLaw = (invoices: Billed[], asked: boolean, at: number): number =>
  owedOf(({ amount_paid: paid }) => paid, { invoices, asked, at });

/** The same of what a credit has paid, which becomes a credit again. */
export const creditedByLaw = (invoices: Billed[], asked: boolean, at: number): number =>
  owedOf(fromCredit, { invoices, asked, at });

function fromCredit({ starting_balance: before, ending_balance: after }: Billed): number {
  const [had, left] = [before, after ?? 0].map((balance) => Math.max(0, -balance));
  return Math.max(0, had! - left!);
}

type Statement = { invoices: Billed[]; asked: boolean; at: number };

function owedOf(paidBy: (invoice: Billed) => number, { invoices, asked, at }: Statement): number {
  const ordered = invoices.toSorted((a, b) => a.created - b.created);
  const concluded = ordered.findLast(
    ({ billing_reason: why }) => why === 'subscription_create' || why === 'subscription_update',
  )!;
  let owed = 0n;
  for (const invoice of ordered) {
    const { created, lines } = invoice;
    if (created < concluded.created) continue;
    const paid = paidBy(invoice);
    const { start, end } = lines.data.find(({ amount }) => amount > 0)!.period;
    const passed = BigInt(Math.max(0, Math.min(at, end) - start));
    const share = asked ? (BigInt(paid) * passed) / BigInt(end - start) : 0n;
    owed += BigInt(paid) - share;
  }
  return Number(owed);
}
