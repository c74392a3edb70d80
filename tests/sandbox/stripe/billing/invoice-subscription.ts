import { periodStart } from '../objects/subscriptions.ts';
import { draftInvoice } from './draft-invoice.ts';
import { finalizeInvoice } from './finalize-invoice.ts';
import { collectAutomatically } from './retries.ts';
import type { BillingReason } from '../types/invoices.ts';
import type { Line, Period } from '../types/lines.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Invoicing = {
  reason: BillingReason;
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
    isAutomatic: before.status !== 'unpaid',
  });
  world.subscriptions.change(id, (subscription) => {
    edit?.(subscription);
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
    for (const line of lines) noteBilled(subscription, line, invoice.id);
  });
  if (collect === 'after-draft') return invoice.id;
  const finalized = finalizeInvoice(world, invoice.id);
  if (finalized.status === 'open' && collect === 'now') collectAutomatically(world, invoice.id);
  return invoice.id;
}

/** The period of a renewal's invoice is the week before it; the period of its lines is the week after it. */
function periodOf(world: World, subscription: Subscription, reason: BillingReason): Period {
  const now = world.now();
  const [item] = subscription.items.data;
  if (reason === 'subscription_create' || !item) return { start: now, end: now };
  if (reason === 'subscription_update') return { start: periodStart(subscription), end: now };
  return { start: item.current_period_start, end: item.current_period_end };
}

/** Stores which line billed an item's current period, for the credit of a later change. */
function noteBilled(subscription: Subscription, line: Line, invoice: string): void {
  const { subscription_item: item } = line.parent.subscription_item_details;
  if (line.amount > 0) subscription._.billed[item] = { invoice, invoice_line_items: [line.id] };
}
