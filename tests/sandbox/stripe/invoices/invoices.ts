import type { Stripe } from 'stripe';
import { Hono } from 'hono';
import { html } from 'hono/html';
import {
  type Call,
  idOf,
  type World,
  liveCustomer,
  mergeMetadata,
  type Atomically,
} from '../world.ts';
import { declined, invalid, StripeError, notFound } from '../api/errors.ts';
import { ownMethod } from '../payments/payment-methods.ts';
import type { Outcome } from '../payments/charges.ts';
import type { Invoice, Line, Period, Subscription } from '../objects.ts';
import { pageOf, type PageParams } from '../table.ts';
import { periodStart, endSubscription, stopCollecting } from '../subscriptions/subscriptions.ts';
import { day } from '../clock.ts';
import { formatMoney } from '../currencies.ts';
import { authenticationForm, type Html, layout } from '../hosted/layout.ts';
import {
  collectInvoice,
  closeInvoice,
  endInvoice,
  payingMethod,
  authenticateInvoice,
  awaitsAuthentication,
} from './collect-invoice.ts';
import { draftInvoice, finalization, finalizeInvoice } from './draft-invoice.ts';
import { subscriptionOf } from './lines.ts';

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
  if (status !== 'draft' && sealed)
    throw invalid("Finalized invoices can't be updated in this way", sealed);
  return world.invoices.change(id, (invoice) => {
    invoice.metadata = mergeMetadata(invoice.metadata ?? {}, metadata);
    if (description !== undefined) invoice.description = description || null;
    if (advances === undefined) return;
    if (status === 'draft') Object.assign(invoice, finalization(invoice.created, advances));
    else
      Object.assign(invoice, {
        auto_advance: advances,
        ...(!advances && { next_payment_attempt: null }),
      });
  });
}

/** Recorded: finalizing an invoice does not charge it. With `auto_advance`, Stripe charges it within the hour. */
export function finalize(world: World, call: Call<Stripe.InvoiceFinalizeInvoiceParams>): Invoice {
  const draft = world.invoices.get(idOf(call));
  if (draft.status !== 'draft')
    throw invalid("This invoice is already finalized, you can't re-finalize a non-draft invoice.");
  const finalized = finalizeInvoice(world, draft.id);
  if (finalized.status !== 'open') return finalized;
  const advances = call.params.auto_advance ?? finalized.auto_advance ?? false;
  const plan = {
    ...finalization(world.now(), advances),
    automatically_finalizes_at: null,
  };
  return world.invoices.change(draft.id, plan, null);
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
    return declined(outcome.decline, true, {
      payment_intent: intent,
      charge: intent?.latest_charge ?? null,
    });
  }
  if (outcome.kind !== 'action') return undefined;
  const message =
    'This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the invoice.';
  return declined({ code: 'invoice_payment_intent_requires_action', message }, true, {
    payment_intent: intent,
  });
}

/** Recorded: in their errors, these calls name the path parameter differently from the calls that change an invoice. */
export function retrieveInvoice(world: World, call: Call): Invoice {
  const invoice = world.invoices.find(idOf(call));
  if (!invoice) throw notFound('invoice', idOf(call), 'invoice');
  return invoice;
}

export function listInvoiceLines(world: World, call: Call<PageParams>) {
  const { lines } = retrieveInvoice(world, call);
  return pageOf(lines.data, call.params, call.path, {
    label: 'invoice line item',
    all: () => lines.data,
  });
}

type Invoicing = {
  reason: NonNullable<Invoice['billing_reason']>;
  lines: Line[];
  /** The change of the subscription that comes with the invoice. */
  edit?: (subscription: Subscription) => void;
  /** The invoice's period; by default the one of its reason. */
  period?: Period;
  /** A renewal's invoice stays a draft for an hour; with `none` the caller charges the open invoice. */
  collect?: 'after-draft' | 'none' | 'now';
};

/** Invoices a subscription for these lines and its pending prorations. Returns the invoice's id. */
export function invoiceSubscription(world: World, id: string, invoicing: Invoicing): string {
  const { reason, lines, edit, period, collect = 'now' } = invoicing;
  const before = world.subscriptions.get(id);
  const invoice = draftInvoice(world, {
    customer: before.customer,
    currency: before.currency,
    subscription: before,
    reason,
    lines: [...before._.pending, ...lines],
    period: period ?? periodOf(world, before, reason),
    isAutomatic: before.status !== 'unpaid' && before.pause_collection === null,
  });
  world.subscriptions.change(id, (subscription) => {
    edit?.(subscription);
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
    for (const line of lines) noteBilled(subscription, line, invoice.id);
  });
  if (before.pause_collection) {
    endPausedInvoice(world, invoice.id, before.pause_collection);
    return invoice.id;
  }
  if (collect === 'after-draft') return invoice.id;
  const finalized = finalizeInvoice(world, invoice.id);
  if (finalized.status === 'open' && collect === 'now') collectAutomatically(world, invoice.id);
  return invoice.id;
}

/**
 * Ends the invoice of a subscription whose collection is paused. Documented: it stays a draft, or is marked at once.
 * https://docs.stripe.com/billing/subscriptions/pause-payment
 */
function endPausedInvoice(
  world: World,
  id: string,
  { behavior }: NonNullable<Subscription['pause_collection']>,
): void {
  if (behavior === 'keep_as_draft') return;
  // An invoice of nothing is paid.
  if (finalizeInvoice(world, id).status !== 'open') return;
  if (behavior === 'void') closeInvoice(world, id);
  else endInvoice(world, id, 'uncollectible');
}

/** The period of a renewal's invoice is the week before it; the period of its lines is the week after it. */
function periodOf(
  world: World,
  subscription: Subscription,
  reason: Invoice['billing_reason'],
): Period {
  const now = world.now();
  const [item] = subscription.items.data;
  if (reason === 'subscription_create' || !item)
    return {
      start: now,
      end: now,
    };
  if (reason === 'subscription_update')
    return {
      start: periodStart(subscription),
      end: now,
    };
  return {
    start: item.current_period_start,
    end: item.current_period_end,
  };
}

/** Stores which line billed an item's current period, for the credit of a later change. */
function noteBilled(subscription: Subscription, line: Line, invoice: string): void {
  const { subscription_item: item } = line.parent.subscription_item_details;
  if (line.amount > 0)
    subscription._.billed[item] = {
      invoice,
      invoice_line_items: [line.id],
    };
}

/**
 * Days after the first failed charge on which a payment is retried. Stripe's default is 8 retries within 2 weeks at
 * times that it chooses; here they are fixed.
 */
const retryDays = {
  'two-weeks': [1, 3, 5, 7, 9, 11, 13, 14],
  'five-days': [1, 3, 5],
} as const;

/** Charges an open invoice without the customer; if that fails, schedules the next retry. */
export function collectAutomatically(world: World, id: string): void {
  const invoice = world.invoices.get(id);
  // Recorded: a skipped retry is counted, without a charge or an event.
  if (needsAnotherMethod(world, invoice))
    world.invoices.change(id, { attempt_count: invoice.attempt_count + 1 }, null);
  else if (collectInvoice(world, id).kind === 'paid') return;
  planRetry(world, id);
}

/** Schedules the next retry of an invoice; after the last one, does what the account's settings say. */
function planRetry(world: World, id: string): void {
  const { _: before, customer } = world.invoices.get(id);
  const firstFailure = before.firstFailure ?? world.now();
  const days = retryDays[world.collection(customer).retries][before.retries];
  world.invoices.change(id, (invoice) => {
    invoice.next_payment_attempt = days === undefined ? null : firstFailure + days * day;
    invoice._ = {
      ...invoice._,
      firstFailure,
      retries: before.retries + 1,
    };
  });
  if (days === undefined) endRetries(world, world.invoices.get(id));
}

/** A renewal's payment that a call of the API tried first: Stripe retries it as its own. */
function planFirstRetry(world: World, id: string): void {
  const {
    auto_advance: advances,
    billing_reason: reason,
    status,
    _: internal,
  } = world.invoices.get(id);
  const isRenewal = reason === 'subscription_cycle' && status === 'open';
  if (isRenewal && advances && internal.firstFailure === null) planRetry(world, id);
}

/** After a hard decline, Stripe keeps the retry schedule but charges only another payment method. */
function needsAnotherMethod(world: World, invoice: Invoice): boolean {
  const { unauthenticated } = invoice._;
  return unauthenticated !== null && payingMethod(world, invoice)?.id === unauthenticated;
}

function endRetries(world: World, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  const { afterRetries } = world.collection(invoice.customer);
  if (afterRetries === 'past_due' || !id) return;
  if (afterRetries === 'cancel')
    return void endSubscription(world, id, { reason: 'payment_failed' });
  stopCollecting(world, id);
  world.subscriptions.change(id, { status: 'unpaid' });
}

/** Shows an invoice, and lets its payment be authenticated. */
export function invoicePages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/invoice/:id', (c) => c.html(invoicePage(world, world.invoices.get(c.req.param('id')))));
  app.post('/invoice/:id', async (c) => {
    const { authentication } = await c.req.parseBody();
    const invoice = world.invoices.get(c.req.param('id'));
    if (awaitsAuthentication(world, invoice)) {
      const succeeds = authentication === 'complete';
      atomically(invoice.customer, () => authenticateInvoice(world, invoice.id, { succeeds }));
    }
    return c.redirect(c.req.path, 303);
  });
  return app;
}

function invoicePage(world: World, invoice: Invoice): Html {
  const { amount_due: amount, currency, lines, number, status } = invoice;
  const waiting = html`<section class="card stack">
    <p class="notice bad">The bank asks you to confirm this payment.</p>
    ${authenticationForm()}
  </section>`;
  const content = html`<section class="card stack">
      <p class="soft">Invoice ${number}</p>
      <h1>${formatMoney(amount, currency)}</h1>
      <p>${status === 'paid' ? 'Paid' : status === 'open' ? 'Waiting to be paid' : 'Closed'}</p>
      <dl>
        ${lines.data.map(
          (line) =>
            html`<div>
              <dt>${line.description}</dt>
              <dd>${formatMoney(line.amount, currency)}</dd>
            </div>`,
        )}
      </dl>
    </section>
    ${awaitsAuthentication(world, invoice) ? waiting : ''}`;
  return layout({ title: `Invoice ${number}` }, content);
}
