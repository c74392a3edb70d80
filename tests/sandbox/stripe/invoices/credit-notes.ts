import type { Stripe } from 'stripe';
import { invalid } from '../api/errors.ts';
import type { Charge, CreditNote, CreditNoteLine, Invoice } from '../objects.ts';
import { refundCharge } from '../payments/refunds.ts';
import { listOf, newId } from '../table.ts';
import { type Call, given, idOf, mergeMetadata, newMetadata, type World } from '../world.ts';

/*
 * A credit note lowers what an invoice asks. Of a paid invoice, the whole amount has to go somewhere: back to the card
 * (`refund_amount`), to the customer's balance (`credit_amount`), or outside of Stripe (`out_of_band_amount`).
 * https://docs.stripe.com/invoicing/integration/programmatic-credit-notes
 */

type Params = Stripe.CreditNoteCreateParams;

/** Creates a credit note of `amount` cents for a finalized invoice, with the refund that it asks for. */
export function createCreditNote(world: World, { params }: Call<Params>): CreditNote {
  const invoice = world.invoices.get(params.invoice, 'invoice');
  const amount = params.amount ?? 0;
  refuseAmount(world, invoice, amount);
  refuseSplit(invoice, amount, params);

  const id = newId('cn_1');
  const note = world.creditNotes.insert({
    ...amountsOf(invoice, amount),
    id,
    object: 'credit_note',
    created: world.now(),
    currency: invoice.currency,
    customer: invoice.customer,
    customer_balance_transaction: creditBalance(world, invoice, params.credit_amount ?? 0),
    effective_at: params.effective_at ?? world.now(),
    invoice: invoice.id,
    lines: listOf([lineOf(amount)], `/v1/credit_notes/${id}/lines`),
    metadata: newMetadata(params.metadata),
    number: numberOf(world, invoice),
    out_of_band_amount: params.out_of_band_amount ?? null,
    pdf: `${world.settings.sandboxUrl}/invoice/${invoice.id}`,
    refunds: refundsOf(world, invoice, params),
    ...given(params, 'memo', 'reason'),
  });
  lowerInvoice(world, invoice, amount);
  return note;
}

const isPaid = ({ status }: Invoice): boolean => status === 'paid';

/** What earlier credit notes left of an invoice. */
function creditable(world: World, { id, total }: Invoice): number {
  const notes = world.creditNotes.all().filter(({ invoice }) => invoice === id);
  const issued = notes.filter(({ status }) => status === 'issued');
  return issued.reduce((rest, { total: credited }) => rest - credited, total);
}

function refuseAmount(world: World, invoice: Invoice, amount: number): void {
  const { id, status } = invoice;
  if (status !== 'open' && status !== 'paid')
    throw invalid(`Credit notes can only be created for open or paid invoices, not ${status}.`);

  if (amount < 1) throw invalid('The credit note amount must be greater than zero.', 'amount');

  const rest = creditable(world, invoice);
  if (amount > rest)
    throw invalid(
      `The credit note amount of ${amount} exceeds the ${rest} that can be credited on invoice ${id}.`,
      'amount',
    );
}

/** Documented: the parts must equal what is credited after the payment. */
function refuseSplit(invoice: Invoice, amount: number, params: Params): void {
  const { credit_amount: credit = 0, refund_amount: refund = 0 } = params;
  const parts = credit + refund + (params.out_of_band_amount ?? 0);
  const wanted = isPaid(invoice) ? amount : 0;
  if (parts === wanted) return;

  throw invalid(
    `The sum of credit amount, refund amount and out of band amount (${parts}) must equal the post payment credit note amount (${wanted}).`,
  );
}

function amountsOf(invoice: Invoice, amount: number) {
  const type: CreditNote['type'] = isPaid(invoice) ? 'post_payment' : 'pre_payment';
  return {
    type,
    amount,
    post_payment_amount: isPaid(invoice) ? amount : 0,
    pre_payment_amount: isPaid(invoice) ? 0 : amount,
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
  };
}

function lineOf(amount: number): CreditNoteLine {
  return {
    id: newId('cnli_1'),
    object: 'credit_note_line_item',
    amount,
    description: null,
    discount_amount: 0,
    discount_amounts: [],
    livemode: false,
    metadata: {},
    pretax_credit_amounts: [],
    quantity: 1,
    tax_rates: [],
    taxes: [],
    type: 'custom_line_item',
    unit_amount: amount,
    unit_amount_decimal: String(amount),
  };
}

function numberOf(world: World, { id, number }: Invoice): string {
  const earlier = world.creditNotes.all().filter(({ invoice }) => invoice === id).length;
  return `${number}-CN-${String(earlier + 1).padStart(2, '0')}`;
}

/** A negative balance lowers the customer's next invoice. */
function creditBalance(world: World, { customer: id }: Invoice, amount: number): string | null {
  if (amount === 0) return null;

  world.customers.change(id, (customer) => void (customer.balance -= amount));
  return newId('cbtxn_1');
}

function refundsOf(world: World, invoice: Invoice, params: Params): CreditNote['refunds'] {
  const amount = params.refund_amount ?? 0;
  if (amount === 0) return [];

  const refund = refundCharge(world, chargeOf(world, invoice), {
    amount,
    metadata: {},
  });
  return [
    {
      amount_refunded: amount,
      refund: refund.id,
      type: 'refund',
    },
  ];
}

/** The payment of an invoice. Throws if it was paid without one, by the customer's balance for example. */
function chargeOf(world: World, { _: { paymentIntent } }: Invoice): Charge {
  const intent = world.paymentIntents.find(paymentIntent ?? '');
  const charge = world.charges.find(intent?.latest_charge ?? '');
  if (charge) return charge;

  throw invalid('This invoice has no payment that could be refunded.', 'refund_amount');
}

function lowerInvoice(world: World, { id }: Invoice, amount: number): void {
  world.invoices.change(id, (invoice) => {
    if (isPaid(invoice)) invoice.post_payment_credit_notes_amount += amount;
    else {
      invoice.pre_payment_credit_notes_amount += amount;
      invoice.amount_due -= amount;
      invoice.amount_remaining -= amount;
    }
  });
}

export function updateCreditNote(
  world: World,
  call: Call<Stripe.CreditNoteUpdateParams>,
): CreditNote {
  const { memo, metadata } = call.params;
  return world.creditNotes.change(idOf(call), (note) => {
    note.metadata = mergeMetadata(note.metadata ?? {}, metadata);
    if (memo !== undefined) note.memo = memo || null;
  });
}

/** Documented: only the credit note of an open invoice can be voided. */
export function voidCreditNote(world: World, call: Call): CreditNote {
  const { id, invoice, status, type, amount } = world.creditNotes.get(idOf(call));
  if (status === 'void') throw invalid('This credit note has already been voided.');
  if (type !== 'pre_payment' || isPaid(world.invoices.get(invoice)))
    throw invalid('You can only void credit notes of open invoices.');

  world.invoices.change(invoice, (open) => {
    open.pre_payment_credit_notes_amount -= amount;
    open.amount_due += amount;
    open.amount_remaining += amount;
  });
  const changes = { status: 'void', voided_at: world.now() } as const;
  return world.creditNotes.change(id, changes, 'credit_note.voided');
}
