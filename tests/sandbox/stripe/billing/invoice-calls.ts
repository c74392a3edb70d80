import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { declined, invalid, StripeError } from '../errors.ts';
import { liveCustomer } from '../objects/live-customer.ts';
import { mergeMetadata, newMetadata } from '../objects/metadata.ts';
import { ownMethod } from '../objects/payment-methods.ts';
import type { Outcome } from './attempt-payment.ts';
import { closeInvoice } from './close-invoice.ts';
import { collectInvoice } from './collect-invoice.ts';
import { draftInvoice, finalization } from './draft-invoice.ts';
import { finalizeInvoice } from './finalize-invoice.ts';
import { settleInvoice } from './settle-invoice.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** The fields of a finalized invoice that may still change. */
const changeable = new Set(['auto_advance', 'expand', 'metadata']);

/** Creates an empty draft: the local Stripe has no invoice items. */
export function createInvoice(world: World, { params }: Call<Stripe.InvoiceCreateParams>): Invoice {
  if (!params.customer) throw invalid('Must provide customer or customer_account.', undefined, 'parameter_missing');
  const customer = liveCustomer(world, params.customer, 'customer');
  return draftInvoice(world, {
    customer: customer.id,
    currency: params.currency ?? customer.currency ?? 'usd',
    reason: 'manual',
    description: params.description ?? null,
    metadata: newMetadata(params.metadata),
    isAutomatic: params.auto_advance ?? false,
  });
}

export function updateInvoice(world: World, call: Call<Stripe.InvoiceUpdateParams>): Invoice {
  const { metadata, auto_advance: advances, description } = call.params;
  const { id, status } = world.invoices.get(idOf(call));
  const sealed = Object.keys(call.params).find((name) => !changeable.has(name));
  if (status !== 'draft' && sealed) throw invalid("Finalized invoices can't be updated in this way", sealed);
  return world.invoices.change(id, (invoice) => {
    invoice.metadata = mergeMetadata(invoice.metadata, metadata);
    if (description !== undefined) invoice.description = description || null;
    if (advances === undefined) return;
    if (status === 'draft') Object.assign(invoice, finalization(invoice.created, advances));
    else Object.assign(invoice, { auto_advance: advances, ...(!advances && { next_payment_attempt: null }) });
  });
}

/** Recorded: finalizing an invoice does not charge it. */
export function finalize(world: World, call: Call<Stripe.InvoiceFinalizeInvoiceParams>): Invoice {
  const { id, status } = world.invoices.get(idOf(call));
  if (status === 'draft') return finalizeInvoice(world, id);
  throw invalid("This invoice is already finalized, you can't re-finalize a non-draft invoice.");
}

/** A declined card is a 402; the attempt stays recorded. */
export function payInvoice(world: World, call: Call<Stripe.InvoicePayParams>): Invoice {
  const { id, status, customer } = world.invoices.get(idOf(call));
  if (status === 'paid') throw invalid('Invoice is already paid');
  if (status === 'void') throw invalid('You cannot pay an invoice that is void.');
  if (status === 'draft') finalizeInvoice(world, id);
  if (world.invoices.get(id).status === 'paid') return world.invoices.get(id);
  const { payment_method: method, paid_out_of_band: isOutOfBand } = call.params;
  if (isOutOfBand) return settleInvoice(world, id, { isOutOfBand });
  const outcome = collectInvoice(world, id, {
    method: method && ownMethod(world, customer, method, 'payment_method').id,
  });
  const failure = paymentError(world, id, outcome);
  if (failure) throw failure;
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
  if (status === 'paid') throw invalid('Invoices with `paid` payments cannot be voided.');
  if (status !== 'open') throw invalid("You can only pass in open invoices. This invoice isn't open.");
  return closeInvoice(world, id);
}
