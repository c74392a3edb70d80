import type { Stripe } from 'stripe';

export const expandedInNote = ['refunds.refund'];

export async function noteOf(stripe: Stripe, statement: string, invoice: string) {
  return (await notesOf(stripe, invoice)).find((note) => statementOf(note) === statement);
}

async function notesOf(stripe: Stripe, invoice: string): Promise<Stripe.CreditNote[]> {
  const listed = {
    invoice,
    limit: 100,
    expand: expandedInNote.map((path) => `data.${path}`),
  };
  return (await stripe.creditNotes.list(listed)).data;
}

const statementOf = ({ metadata }: Stripe.CreditNote) => metadata?.['withdrawal'];

/**
 * Whether a statement but this one (`own`) has given money back: a
 * database that was put back does not know it any more.
 */
export async function isPaidBack(
  stripe: Stripe,
  invoices: Stripe.Invoice[],
  own: string | undefined,
): Promise<boolean> {
  const noted = invoices.filter((invoice) => invoice.post_payment_credit_notes_amount > 0);
  const notes = await Promise.all(noted.map(({ id }) => notesOf(stripe, id)));
  return notes.flat().some((note) => ![undefined, own].includes(statementOf(note)));
}
