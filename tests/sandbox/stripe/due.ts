import { endSubscription } from './billing/end-subscription.ts';
import { announceTrialEnd, endTrial } from './billing/end-trial.ts';
import { finalizeInvoice } from './billing/finalize-invoice.ts';
import { nextPhase } from './billing/phases.ts';
import { renewSubscription } from './billing/renew-subscription.ts';
import { collectAutomatically } from './billing/retries.ts';
import { settleDebit } from './billing/settle-debit.ts';
import { expireSession } from './objects/checkout-sessions.ts';
import { closeInvoice } from './billing/close-invoice.ts';
import { type Due, dueCollection } from './table.ts';
import type { World } from './types/world.ts';

/** The order of changes that are due at the same second: a schedule sets the price before the renewal charges it. */
const order = ['schedules', 'subscriptions', 'invoices', 'payment_intents', 'checkout_sessions'];

/** The next of the wanted changes: the first on the real clock, since customers' clocks differ. */
export function nextDue({ store, clock }: World, isWanted: (due: Due) => boolean): Due | undefined {
  const realAt = ({ at, customer }: Due) => at - clock.offset(customer);
  let first: Due | undefined;
  for (const due of store.list<Due>(dueCollection)) {
    if (!isWanted(due)) continue;
    const later = first ? realAt(due) - realAt(first) : -1;
    if (!first || later < 0 || (later === 0 && order.indexOf(due.table) < order.indexOf(first.table))) first = due;
  }
  return first;
}

export function runDue(world: World, { table, id, at }: Due): void {
  if (table === 'schedules') nextPhase(world, id);
  else if (table === 'subscriptions') runSubscription(world, id, at);
  else if (table === 'invoices') runInvoice(world, id);
  else if (table === 'payment_intents') settleDebit(world, id);
  else expireSession(world, id);
}

/** Finalizes a draft whose hour has passed, or charges an open invoice that is due. */
function runInvoice(world: World, id: string): void {
  const isDraft = world.invoices.get(id).status === 'draft';
  const { status } = isDraft ? finalizeInvoice(world, id) : world.invoices.get(id);
  if (status === 'open') collectAutomatically(world, id);
}

function runSubscription(world: World, id: string, at: number): void {
  const { status, cancel_at: cancelAt, trial_end: trialEnd, latest_invoice: invoice } = world.subscriptions.get(id);
  if (status === 'incomplete') expireIncomplete(world, id, invoice);
  else if (cancelAt !== null && cancelAt <= at) endSubscription(world, id, { isPlanned: true });
  else if (status !== 'trialing' || trialEnd === null) renewSubscription(world, id);
  else if (trialEnd <= at) endTrial(world, id, trialEnd);
  else announceTrialEnd(world, id);
}

function expireIncomplete(world: World, id: string, invoice: string | null): void {
  if (invoice && world.invoices.get(invoice).status === 'open') closeInvoice(world, invoice);
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { status: 'incomplete_expired', ended_at: subscription.ended_at ?? world.now() });
  });
}
