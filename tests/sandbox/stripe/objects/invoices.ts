import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf, pageWithin, type PageParams } from '../api/page.ts';
import { notFound } from '../errors.ts';
import { requireCustomer } from './live-customer.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

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

/** Recorded: in their errors, these calls name the path parameter differently from the calls that change an invoice. */
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
