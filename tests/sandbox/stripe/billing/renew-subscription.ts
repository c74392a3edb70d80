import { addInterval } from '../interval.ts';
import type { Subscription, SubscriptionItem } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { draftInvoice } from './draft-invoice.ts';
import { invoiceSubscription } from './invoice-subscription.ts';
import { type Period, periodLine } from './lines.ts';

/** The period of an item that starts now. */
export function periodFrom(start: number, item: SubscriptionItem): Period {
  const { interval = 'week', interval_count: count = 1 } = item.price.recurring ?? {};
  return { start, end: addInterval(start, interval, count) };
}

export function movePeriod(item: SubscriptionItem, { start, end }: Period): void {
  Object.assign(item, { current_period_start: start, current_period_end: end, billed_until: end });
}

/** A new period begins: it is invoiced and charged. An unpaid subscription's invoices stay drafts. */
export function renewSubscription(world: World, id: string): void {
  const before = world.subscriptions.get(id);
  const lines = before.items.data.map((item) =>
    periodLine(world, before, item, periodFrom(item.current_period_end, item)),
  );
  if (before.status !== 'unpaid') {
    invoiceSubscription(world, id, { reason: 'subscription_cycle', lines, edit: moveOn });
    return;
  }
  const draft = draftInvoice(world, before, 'subscription_cycle', lines);
  world.invoices.change(draft.id, (invoice) => void (invoice.auto_advance = false));
  world.subscriptions.change(id, (subscription) => {
    moveOn(subscription);
    subscription.latest_invoice = draft.id;
  });
}

function moveOn(subscription: Subscription): void {
  for (const item of subscription.items.data) movePeriod(item, periodFrom(item.current_period_end, item));
}
