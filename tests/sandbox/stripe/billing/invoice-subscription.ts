import type { BillingReason } from '../objects/invoices.ts';
import type { Subscription } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { draftInvoice } from './draft-invoice.ts';
import { finalizeInvoice } from './finalize-invoice.ts';
import type { Line } from './lines.ts';
import { collectAutomatically } from './retries.ts';

type Invoicing = {
  reason: BillingReason;
  lines: Line[];
  /** What changes on the subscription with the new invoice. */
  edit?: (subscription: Subscription) => void;
  /** `none` leaves the open invoice to someone else. */
  collect?: 'automatically' | 'none';
};

/** Invoices a subscription for these lines and what waited for the next invoice; answers the invoice's id. */
export function invoiceSubscription(world: World, id: string, { reason, lines, edit, collect }: Invoicing): string {
  const before = world.subscriptions.get(id);
  const invoice = draftInvoice(world, before, reason, [...before._.pending, ...lines]);
  world.subscriptions.change(id, (subscription) => {
    edit?.(subscription);
    subscription.latest_invoice = invoice.id;
    subscription._.pending = [];
  });
  const finalized = finalizeInvoice(world, invoice.id);
  if (finalized.status === 'open' && collect !== 'none') collectAutomatically(world, invoice.id);
  return invoice.id;
}
