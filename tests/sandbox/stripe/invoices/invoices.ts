import type { Stripe } from 'stripe';
import { type Call, idOf, type World, liveCustomer, mergeMetadata } from '../world.ts';
import { declined, invalid, StripeError, notFound } from '../api/errors.ts';
import { ownMethod } from '../payments/payment-methods.ts';
import type { Outcome } from '../payments/attempt-payment.ts';
import { closeInvoice, collectInvoice, writeOffInvoice } from './collect-invoice.ts';
import { draftInvoice, finalization, finalizeInvoice } from './draft-invoice.ts';
import type { Invoice } from '../objects.ts';
import { pageOf, type PageParams } from '../table.ts';
import { planFirstRetry } from './subscription-invoices.ts';

/** The fields of a finalized invoice that may still change. */
const changeable = new Set(['auto_advance', 'expand', 'metadata']);

/** Creates an empty draft: the local Stripe has no invoice items. */
export function createInvoice(world: World, { params }: Call<Stripe.InvoiceCreateParams>): Invoice {
  const { id: customer, currency } = liveCustomer(world, params.customer ?? '', 'customer');
  return draftInvoice(world, {
    customer,
    currency: currency ?? 'usd',
    reason: 'manual',
    isAutomatic: params.auto_advance ?? false,
  });
}

export function updateInvoice(world: World, call: Call<Stripe.InvoiceUpdateParams>): Invoice {
  const { metadata, auto_advance: advances, description } = call.params;
  const { id, status } = world.invoices.get(idOf(call));
  const sealed = Object.keys(call.params).find((name) => !changeable.has(name));
  if (status !== 'draft' && sealed) throw invalid("Finalized invoices can't be updated in this way", sealed);
  return world.invoices.change(id, (invoice) => {
    invoice.metadata = mergeMetadata(invoice.metadata ?? {}, metadata);
    if (description !== undefined) invoice.description = description || null;
    if (advances === undefined) return;
    if (status === 'draft') Object.assign(invoice, finalization(invoice.created, advances));
    else Object.assign(invoice, { auto_advance: advances, ...(!advances && { next_payment_attempt: null }) });
  });
}

/** Recorded: finalizing an invoice does not charge it. With `auto_advance`, Stripe charges it within the hour. */
export function finalize(world: World, call: Call<Stripe.InvoiceFinalizeInvoiceParams>): Invoice {
  const draft = world.invoices.get(idOf(call));
  if (draft.status !== 'draft') {
    throw invalid("This invoice is already finalized, you can't re-finalize a non-draft invoice.");
  }
  const finalized = finalizeInvoice(world, draft.id);
  if (finalized.status !== 'open') return finalized;
  const advances = call.params.auto_advance ?? finalized.auto_advance ?? false;
  const plan = { ...finalization(world.now(), advances), automatically_finalizes_at: null };
  return world.invoices.change(draft.id, (invoice) => void Object.assign(invoice, plan), null);
}

/** A declined card is a 402; the attempt stays recorded. */
export function payInvoice(world: World, call: Call<Stripe.InvoicePayParams>): Invoice {
  const { id, status, customer } = world.invoices.get(idOf(call));
  if (status === 'paid') throw invalid('Invoice is already paid');
  if (status === 'void') throw invalid('You cannot pay an invoice that is void.');
  if (status === 'draft') finalizeInvoice(world, id);
  if (world.invoices.get(id).status === 'paid') return world.invoices.get(id);
  const { payment_method: method } = call.params;
  const outcome = collectInvoice(world, id, {
    method: method && ownMethod(world, customer, method, 'payment_method').id,
  });
  const failure = paymentError(world, id, outcome);
  if (failure) {
    planFirstRetry(world, id);
    throw failure;
  }
  return world.invoices.get(id);
}

function paymentError(world: World, id: string, outcome: Outcome): StripeError | undefined {
  const { paymentIntent } = world.invoices.get(id)._;
  const intent = paymentIntent ? world.paymentIntents.get(paymentIntent) : undefined;
  if (outcome.kind === 'declined') {
    return declined(outcome.decline, true, { payment_intent: intent, charge: intent?.latest_charge ?? null });
  }
  if (outcome.kind !== 'action') return undefined;
  const message =
    'This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the invoice.';
  return declined({ code: 'invoice_payment_intent_requires_action', message }, true, { payment_intent: intent });
}

export function voidInvoice(world: World, call: Call): Invoice {
  const { id, status } = world.invoices.get(idOf(call));
  if (status !== 'open') throw invalid("You can only pass in open invoices. This invoice isn't open.");
  return closeInvoice(world, id);
}

export function markUncollectible(world: World, call: Call): Invoice {
  const { id, status } = world.invoices.get(idOf(call));
  if (status !== 'open') throw invalid("You can only pass in open invoices. This invoice isn't open.");
  return writeOffInvoice(world, id);
}

/** Recorded: in their errors, these calls name the path parameter differently from the calls that change an invoice. */
export function retrieveInvoice(world: World, call: Call): Invoice {
  const invoice = world.invoices.find(idOf(call));
  if (!invoice) throw notFound('invoice', idOf(call), 'invoice');
  return invoice;
}

export function listInvoiceLines(world: World, call: Call<PageParams>) {
  const { lines } = retrieveInvoice(world, call);
  return pageOf(lines.data, call.params, call.path, { label: 'invoice line item', all: () => lines.data });
}
