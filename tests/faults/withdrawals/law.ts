/** What an invoice says; instants in unix seconds, amounts in whole cents. */
export type Billed = {
  id: string;
  status: string | null;
  billing_reason: string | null;
  created: number;
  total: number;
  amount_paid: number;
  /** Above zero: a debt; below zero: a credit. */
  starting_balance: number;
  ending_balance: number | null;
  lines: {
    data: {
      amount: number;
      period: { start: number; end: number };
    }[];
  };
};

type Statement = { invoices: Billed[]; asked: boolean; at: number };
/** What paid an invoice: a card, a credit, or nothing yet. */
type Means = { card: number; credit: number; debt: number };

/**
 * What the law leaves to a person who withdraws at `at`, computed without the product's code from what Stripe has billed:
 * articles 13(1) (all payments of the contract), 14(3) and 14(4) (a share for the time, if it was asked for).
 */
export const owedByLaw = (invoices: Billed[], asked: boolean, at: number): number =>
  owedOf(({ card }) => card, { invoices, asked, at });

/** The same of what a credit has paid or a debt would have to pay: the balance gets it back. */
export const creditedByLaw = (invoices: Billed[], asked: boolean, at: number): number =>
  owedOf(({ credit, debt }) => credit + debt, { invoices, asked, at });

/**
 * The account book of a customer: each invoice is entered with what it asks, each payment takes the oldest entries away
 * first. What is less than Stripe charges stays open until a later payment.
 */
function meansOf(invoices: Billed[]): Map<string, Means> {
  const book = new Map<string, Means>();
  for (const { id, total, amount_paid: paid } of invoices) {
    const entry = { card: 0, credit: 0, debt: total };
    book.set(id, entry);
    const credit = creditIn(invoices, id);
    entry.credit = credit;
    entry.debt -= credit;
    let money = paid;
    for (const open of book.values()) {
      const part = Math.max(0, Math.min(money, open.debt));
      open.card += part;
      open.debt -= part;
      money -= part;
    }
  }
  return book;
}

function creditIn(invoices: Billed[], wanted: string): number {
  const { starting_balance: before, ending_balance: after } = invoices.find(
    ({ id }) => id === wanted,
  )!;
  const [had, left] = [before, after ?? 0].map((balance) => Math.max(0, -balance));
  return Math.max(0, had! - left!);
}

function owedOf(part: (means: Means) => number, { invoices, asked, at }: Statement): number {
  const paid = invoices.filter(({ status }) => status === 'paid');
  const ordered = paid.toSorted((a, b) => a.created - b.created);
  const concluded = ordered.findLast(
    ({ billing_reason: why }) => why === 'subscription_create' || why === 'subscription_update',
  )!;
  const book = meansOf(ordered);
  let owed = 0n;
  for (const { id, created, lines } of ordered) {
    if (created < concluded.created) continue;
    const sum = BigInt(Math.max(0, part(book.get(id)!)));
    const { start, end } = lines.data.find(({ amount }) => amount > 0)!.period;
    const passed = BigInt(Math.max(0, Math.min(at, end) - start));
    const share = asked ? (sum * passed) / BigInt(end - start) : 0n;
    owed += sum - share;
  }
  return Number(owed);
}
