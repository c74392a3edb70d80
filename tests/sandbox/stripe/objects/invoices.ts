import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, type List, pageOf, pageWithin, type PageParams } from '../api/page.ts';
import type { Line } from '../billing/lines.ts';
import { invalid, notFound } from '../errors.ts';
import type { World } from '../world.ts';
import { requireCustomer } from './customers.ts';
import type { Metadata } from './metadata.ts';

export type BillingReason = 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update';
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
  automatically_finalizes_at: number | null;
  billing_reason: BillingReason;
  created: number;
  currency: string;
  customer: string;
  description: string | null;
  effective_at: number | null;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  invoice_pdf: string | null;
  lines: List<Line>;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: 'subscription_details';
    quote_details: null;
    subscription_details: { metadata: Metadata; subscription: string };
  } | null;
  period_start: number;
  period_end: number;
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
  _: {
    payment: string | null;
    paymentIntent: string | null;
    /** When its first charge failed, and how many of the retries are behind it. */
    firstFailure: number | null;
    retries: number;
    /** What the last attempt charged, and why that failed. */
    lastMethod: string | null;
    lastDecline: string | null;
  };
};

export function subscriptionOf({ parent }: Invoice): string | undefined {
  return parent?.subscription_details.subscription;
}

export function invoiceDueAt({
  status,
  automatically_finalizes_at: draftEnds,
  next_payment_attempt: attempt,
}: Invoice) {
  if (status === 'draft') return draftEnds;
  return status === 'open' ? attempt : null;
}

/** Recorded: these calls name the part of the address differently from those that change an invoice. */
function readInvoice(world: World, id: string): Invoice {
  const invoice = world.invoices.find(id);
  if (!invoice) throw notFound('invoice', id, 'invoice');
  return invoice;
}

export function retrieveInvoice(world: World, call: Call): Invoice {
  return readInvoice(world, idOf(call));
}

export function listInvoices(world: World, { params }: Call<Stripe.InvoiceListParams>) {
  const { customer, subscription, status, created, collection_method: method } = params;
  requireCustomer(world, customer);
  if (subscription !== undefined) world.subscriptions.get(subscription, 'subscription');
  const found = world.invoices
    .all()
    .filter((invoice) => customer === undefined || invoice.customer === customer)
    .filter((invoice) => subscription === undefined || subscriptionOf(invoice) === subscription)
    .filter((invoice) => status === undefined || invoice.status === status)
    .filter(() => method === undefined || method === 'charge_automatically')
    .filter((invoice) => inRange(invoice.created, created));
  return pageOf(found, params, '/v1/invoices', world.invoices);
}

export function listInvoiceLines(world: World, call: Call<PageParams>) {
  const { id, lines } = readInvoice(world, idOf(call));
  return pageWithin(lines.data, call.params, `/v1/invoices/${id}/lines`, 'invoice line item');
}

export function deleteInvoice(world: World, call: Call): object {
  const { id, status, parent } = readInvoice(world, idOf(call));
  if (status !== 'draft') throw invalid('You can only delete draft invoices.');
  if (parent) throw invalid("You can't delete invoices created by subscriptions.");
  const invoice = world.invoices.get(id);
  world.invoices.remove(id);
  world.emit('invoice.deleted', invoice);
  return { id, object: 'invoice', deleted: true };
}
