import type { Stripe } from 'stripe';
import { unlessRefused } from './stripe-client.ts';
import { idOf, isCancelled, isLive, owes } from './subscriptions.ts';
import { plans, type PaidPlanId } from '../contract/plans.ts';

export async function authenticationPage(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<string | null> {
  const invoice = latestInvoice(subscription);
  if (!owes(subscription) || invoice?.status !== 'open') return null;

  const expand = ['data.payment.payment_intent'];
  const payments = await unlessRefused(
    stripe.invoicePayments.list({
      invoice: invoice.id,
      limit: 10,
      expand,
    }),
  );

  const waits = payments?.data.some(({ payment }) => {
    const intent = payment.payment_intent;
    return typeof intent === 'object' && intent?.status === 'requires_action';
  });
  return waits ? (invoice.hosted_invoice_url ?? null) : null;
}

/** The id of what an intent has paid for. */
export async function subscriptionPaidBy(
  stripe: Stripe,
  intent: string | null,
): Promise<string | null> {
  if (!intent) return null;
  const payment = { type: 'payment_intent', payment_intent: intent } as const;
  const { data } = await stripe.invoicePayments.list({
    payment,
    limit: 1,
    expand: ['data.invoice'],
  });
  const invoice = data[0]?.invoice;
  const parent = invoice && typeof invoice === 'object' && !invoice.deleted ? invoice.parent : null;
  return idOf(parent?.subscription_details?.subscription);
}

export async function payWithNewCard(
  stripe: Stripe,
  subscription: Stripe.Subscription,
  attempt: number,
): Promise<boolean> {
  const invoice = latestInvoice(subscription);
  // Stripe finalizes a draft with `auto_advance`
  // by itself, and then charges the new card.
  const payable =
    invoice?.status === 'open' || (invoice?.status === 'draft' && !invoice.auto_advance);
  if (!invoice || !payable) return false;

  const card = await newestCard(stripe, subscription);
  const since = Math.max(
    ...subscription.items.data.map(({ current_period_start: start }) => start),
  );
  // A plan that was paid for after the invoice shows that its card works again.
  if (!card || (card.created <= invoice.created && since <= invoice.created)) return false;

  await useFor(stripe, subscription, card);
  if (invoice.status === 'draft') await unlessRefused(stripe.invoices.finalizeInvoice(invoice.id));

  const idempotencyKey = `pay:${invoice.id}:${card.id}:${since}:${attempt}`;
  const paid = await unlessRefused(
    stripe.invoices.pay(invoice.id, { payment_method: card.id }, { idempotencyKey }),
  );
  return paid?.status === 'paid';
}

export function awaitsPayment(subscription: Stripe.Subscription): boolean {
  const invoice = latestInvoice(subscription);
  if (subscription.status !== 'active' || subscription.pause_collection || !invoice) return false;
  const { status, auto_advance, attempted, billing_reason, collection_method, metadata } = invoice;
  const isUntouched =
    auto_advance === true &&
    collection_method === 'charge_automatically' &&
    !Object.keys(metadata ?? {}).length;
  return (
    isUntouched &&
    billing_reason === 'subscription_cycle' &&
    (status === 'draft' || (status === 'open' && !attempted))
  );
}

/** Of two Workers at once, Stripe refuses the second. */
export async function payRenewal(
  stripe: Stripe,
  subscription: Stripe.Subscription,
  attempt: number,
): Promise<boolean> {
  const invoice = latestInvoice(subscription);
  if (!invoice || !awaitsPayment(subscription)) return false;
  const key = (verb: string) => ({ idempotencyKey: `${verb}:${invoice.id}:${attempt}` });
  if (invoice.status === 'draft')
    await unlessRefused(stripe.invoices.finalizeInvoice(invoice.id, {}, key('finalize')));
  await unlessRefused(stripe.invoices.pay(invoice.id, {}, key('renew')));
  return true;
}

const stoppedByCancellation = { stoppedBy: 'cancellation' };

export async function stopCollecting(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<void> {
  const change = { auto_advance: false, metadata: stoppedByCancellation };
  for (const { id, auto_advance: collects } of await unpaidInvoices(stripe, subscription)) {
    if (collects) await unlessRefused(stripe.invoices.update(id, change));
  }
}

export async function collectAgain(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<boolean> {
  const latest = latestInvoice(subscription);
  if (!isLive(subscription) || isCancelled(subscription) || !latest || !isStopped(latest))
    return false;
  const others = (await unpaidInvoices(stripe, subscription)).filter(
    (each) => isStopped(each) && each.id !== latest.id,
  );
  const change = { auto_advance: true, metadata: { stoppedBy: '' } };
  // The latest one is the last: as long as it
  // is stopped, the next sync repeats this.
  for (const { id } of [...others, latest]) await unlessRefused(stripe.invoices.update(id, change));
  return true;
}

async function unpaidInvoices(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  return (await invoicesOf(stripe, subscription)).filter(isUnpaid);
}

function isUnpaid({ status }: Stripe.Invoice): boolean {
  return status === 'draft' || status === 'open';
}

function isStopped(invoice: Stripe.Invoice): boolean {
  return isUnpaid(invoice) && invoice.metadata?.['stoppedBy'] === stoppedByCancellation.stoppedBy;
}

export function isPaidUp(subscription: Stripe.Subscription): boolean {
  const invoice = latestInvoice(subscription);
  const starts = subscription.items.data.map(({ current_period_start: start }) => start);
  const paysFor = (line: Stripe.InvoiceLineItem) =>
    !isProration(line) && starts.includes(line.period.start);
  return invoice?.status === 'paid' && invoice.lines.data.some(paysFor);
}

/**
 * The subscription as owed: past due while its paid
 * invoice credits an unpaid one, which then is its latest.
 */
export async function asOwed(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const latest = latestInvoice(subscription);
  const isActive = subscription.status === 'active';
  if (!isActive && !owes(subscription)) return subscription;
  if (latest?.status !== 'paid' || creditedBy(latest).length === 0) return subscription;

  const debt = debtsOf(await invoicesOf(stripe, subscription)).get(latest.id);
  if (!debt) return subscription;

  const invoice = await stripe.invoices.retrieve(debt);
  // A draft is not overdue: `payRenewal` pays it.
  const status = isActive && invoice.status !== 'draft' ? 'past_due' : subscription.status;
  return { ...subscription, status, latest_invoice: invoice };
}

export async function settledInvoices(
  stripe: Stripe,
  subscription: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const invoices = await invoicesOf(stripe, subscription);
  const debts = debtsOf(invoices);
  return invoices.filter(({ id, status }) => status === 'paid' && debts.get(id) === null);
}

async function invoicesOf(stripe: Stripe, { id }: Stripe.Subscription): Promise<Stripe.Invoice[]> {
  const { data } = await stripe.invoices.list({ subscription: id, limit: 100 });
  return data;
}

/** Of each paid invoice; null if nothing that it credits is owed. */
function debtsOf(invoices: Stripe.Invoice[]): Map<string, string | null> {
  const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  const debts = new Map<string, string | null>();

  const debtOf = (id: string): string | null => {
    const invoice = byId.get(id);
    if (invoice && isGivenUp(invoice)) return null;
    if (invoice?.status !== 'paid') return id;
    if (!debts.has(id)) debts.set(id, creditedBy(invoice).map(debtOf).find(Boolean) ?? null);
    return debts.get(id)!;
  };

  for (const { id, status } of invoices) if (status === 'paid') debtOf(id);
  return debts;
}

/** By the owner, who paused the collection: nobody can pay it any more. */
function isGivenUp(invoice: Stripe.Invoice): boolean {
  const isKeptDraft = invoice.status === 'draft' && !invoice.auto_advance && !isStopped(invoice);
  return isKeptDraft || invoice.status === 'void' || invoice.status === 'uncollectible';
}

function creditedBy({ lines }: Stripe.Invoice): string[] {
  return lines.data.flatMap(({ amount, parent }) => {
    const details = parent?.subscription_item_details ?? parent?.invoice_item_details;
    const credited = details?.proration_details?.credited_items?.invoice;
    return amount < 0 && credited ? [credited] : [];
  });
}

function latestInvoice({ latest_invoice: invoice }: Stripe.Subscription): Stripe.Invoice | null {
  return typeof invoice === 'string' ? null : invoice;
}

async function newestCard(
  stripe: Stripe,
  { customer, default_payment_method: own }: Stripe.Subscription,
): Promise<Stripe.PaymentMethod | null> {
  const found = await stripe.customers.retrieve(idOf(customer)!, {
    expand: ['invoice_settings.default_payment_method'],
  });
  if (found.deleted) return null;
  const methods = [
    found.invoice_settings.default_payment_method,
    own && (await retrieve(stripe, idOf(own)!)),
  ];
  const cards = methods.filter((method) => method !== null && typeof method === 'object');
  return cards.toSorted((a, b) => b.created - a.created)[0] ?? null;
}

function retrieve(stripe: Stripe, id: string): Promise<Stripe.PaymentMethod | null> {
  return unlessRefused(stripe.paymentMethods.retrieve(id));
}

/**
 * Stripe prefers the subscription's own card, so it is
 * replaced too: later weeks must be charged to the new one.
 */
async function useFor(
  stripe: Stripe,
  { id, default_payment_method: own }: Stripe.Subscription,
  card: { id: string },
) {
  if (!own || idOf(own) === card.id) return;
  await stripe.subscriptions.update(id, { default_payment_method: card.id });
}

/** Unix ms; `tier` null for an unknown price. */
export type PaidWeek = { start: number; tier: PaidPlanId | null };

type Prices = ReadonlyMap<string, PaidPlanId | null>;

/** Null before the first payment. */
export function paidWeekOf(invoices: Stripe.Invoice[], prices: Prices): PaidWeek | null {
  const paid = invoices.flatMap(({ lines }) => lines.data).filter(({ amount }) => amount > 0);
  const [week] = paid
    .filter((line) => !isProration(line))
    .toSorted((a, b) => b.period.start - a.period.start);
  if (!week) return null;
  // A proration pays an upgrade within the week.
  const tiers = paid
    .filter(({ period }) => period.end === week.period.end)
    .flatMap((line) => prices.get(priceOfLine(line) ?? '') ?? []);
  const [tier = null] = tiers.toSorted((a, b) => plans[b].level - plans[a].level);
  return { start: week.period.start * 1000, tier };
}

export function priceOfLine({ pricing }: Stripe.InvoiceLineItem): string | null {
  return idOf(pricing?.price_details?.price);
}

function isProration({ parent }: Stripe.InvoiceLineItem): boolean {
  return (
    parent?.subscription_item_details?.proration ?? parent?.invoice_item_details?.proration ?? false
  );
}
