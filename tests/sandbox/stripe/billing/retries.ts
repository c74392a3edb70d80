import { day } from '../interval.ts';
import { type Invoice, subscriptionOf } from '../objects/invoices.ts';
import type { World } from '../world.ts';
import { collectInvoice } from './collect-invoice.ts';
import { endSubscription } from './end-subscription.ts';

/** Days after the first failed charge on which a card is tried again; a paid week is longer than all of them. */
export const retryDays = [1, 3, 5];

/** Charges an invoice by itself and, when that fails, plans the next try. */
export function collectAutomatically(world: World, id: string): void {
  if (!collectInvoice(world, id)) return;
  const { _: before } = world.invoices.get(id);
  const firstFailure = before.firstFailure ?? world.now();
  const days = retryDays[before.retries];
  world.invoices.change(id, (invoice) => {
    invoice.next_payment_attempt = days === undefined ? null : firstFailure + days * day;
    invoice._ = { ...invoice._, firstFailure, retries: before.retries + 1 };
  });
  if (days === undefined) giveUp(world, world.invoices.get(id));
}

function giveUp(world: World, invoice: Invoice): void {
  world.invoices.change(invoice.id, (invoice) => void (invoice.auto_advance = false));
  const subscription = subscriptionOf(invoice);
  if (world.settings.afterRetries === 'cancel') {
    endSubscription(world, subscription, { reason: 'payment_failed' });
    return;
  }
  world.subscriptions.change(subscription, (subscription) => void (subscription.status = 'unpaid'));
}
