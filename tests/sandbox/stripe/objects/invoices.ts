import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, type List, pageOf, type PageParams } from '../api/page.ts';
import { collectInvoice } from '../billing/collect-invoice.ts';
import { finalizeInvoice } from '../billing/finalize-invoice.ts';
import type { Line } from '../billing/lines.ts';
import { settleInvoice } from '../billing/settle-invoice.ts';
import { declined, invalid } from '../errors.ts';
import type { World } from '../world.ts';
import { type Metadata, mergeMetadata } from './metadata.ts';
import { closeInvoice } from '../billing/close-invoice.ts';

export type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';
export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';

export type Invoice = {
  id: string;
  object: 'invoice';
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  billing_reason: BillingReason;
  created: number;
  currency: string;
  customer: string;
  effective_at: number | null;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  lines: List<Line>;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: 'subscription_details';
    quote_details: null;
    subscription_details: { metadata: Metadata; subscription: string };
  };
  starting_balance: number;
  status: InvoiceStatus;
  status_details?: unknown;
  status_transitions: {
    finalized_at: number | null;
    marked_uncollectible_at: number | null;
    paid_at: number | null;
    voided_at: number | null;
  };
  subtotal: number;
  total: number;
  webhooks_delivered_at: number | null;
  /** When its first charge failed, and how many of the retries are behind it. */
  _: { payment: string | null; paymentIntent: string | null; firstFailure: number | null; retries: number };
};

export function subscriptionOf(invoice: Invoice): string {
  return invoice.parent.subscription_details.subscription;
}

export function invoiceDueAt({ status, next_payment_attempt: at }: Invoice): number | null {
  return status === 'open' ? at : null;
}

export function retrieveInvoice(world: World, call: Call): Invoice {
  return world.invoices.get(idOf(call));
}

export function listInvoices(world: World, { params }: Call<Stripe.InvoiceListParams>) {
  const { customer, subscription, status, created, collection_method: method } = params;
  const found = world.invoices
    .all()
    .filter((invoice) => customer === undefined || invoice.customer === customer)
    .filter((invoice) => subscription === undefined || subscriptionOf(invoice) === subscription)
    .filter((invoice) => status === undefined || invoice.status === status)
    .filter(() => method === undefined || method === 'charge_automatically')
    .filter((invoice) => inRange(invoice.created, created));
  return pageOf(found, params, '/v1/invoices');
}

export function listInvoiceLines(world: World, call: Call<PageParams>) {
  const { id, lines } = world.invoices.get(idOf(call));
  return pageOf(lines.data, call.params, `/v1/invoices/${id}/lines`);
}

export function updateInvoice(world: World, call: Call<Stripe.InvoiceUpdateParams>): Invoice {
  const { metadata, auto_advance: advances } = call.params;
  return world.invoices.change(idOf(call), (invoice) => {
    invoice.metadata = mergeMetadata(invoice.metadata, metadata);
    if (advances === undefined) return;
    invoice.auto_advance = advances;
    if (!advances) invoice.next_payment_attempt = null;
  });
}

export function finalize(world: World, call: Call): Invoice {
  const { id } = inStatus(world, call, ['draft'], 'finalize');
  return finalizeInvoice(world, id);
}

/** A declined card is a 402; the attempt stands. */
export function payInvoice(world: World, call: Call<Stripe.InvoicePayParams>): Invoice {
  const { id, status } = inStatus(world, call, ['draft', 'open', 'uncollectible'], 'pay');
  if (status === 'draft') finalizeInvoice(world, id);
  const { payment_method: method, paid_out_of_band: outOfBand } = call.params;
  if (outOfBand || world.invoices.get(id).status === 'paid') return settleInvoice(world, id);
  const outcome = collectInvoice(world, id, method && world.paymentMethods.get(method, 'payment_method').id);
  if (outcome) throw declined(outcome, true);
  return world.invoices.get(id);
}

export function voidInvoice(world: World, call: Call): Invoice {
  const { id } = inStatus(world, call, ['open', 'uncollectible'], 'void');
  return closeInvoice(world, id, 'void');
}

export function markUncollectible(world: World, call: Call): Invoice {
  const { id } = inStatus(world, call, ['open'], 'mark as uncollectible');
  return closeInvoice(world, id, 'uncollectible');
}

function inStatus(world: World, call: Call, allowed: InvoiceStatus[], verb: string): Invoice {
  const invoice = world.invoices.get(idOf(call));
  if (allowed.includes(invoice.status)) return invoice;
  if (invoice.status === 'paid') throw invalid('Invoice is already paid', undefined, 'invoice_already_paid');
  throw invalid(`You cannot ${verb} an invoice that is ${invoice.status}.`, undefined, 'invoice_not_editable');
}
