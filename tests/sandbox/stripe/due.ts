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

/** The change that is due next. */
export function nextDue(world: World): Due | undefined {
  return world.store
    .list<Due>(dueCollection)
    .reduce<Due | undefined>((first, due) => (first === undefined || isBefore(due, first) ? due : first), undefined);
}

function isBefore(one: Due, other: Due): boolean {
  return one.at === other.at ? order.indexOf(one.table) < order.indexOf(other.table) : one.at < other.at;
}

/** The customer of a change. */
export function customerOf(world: World, { table, id }: Due): string {
  if (table === 'schedules') return world.schedules.get(id).customer;
  if (table === 'subscriptions') return world.subscriptions.get(id).customer;
  if (table === 'invoices') return world.invoices.get(id).customer;
  if (table === 'payment_intents') return world.paymentIntents.get(id).customer ?? '';
  return world.checkoutSessions.get(id).customer ?? '';
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
  if (invoice && world.invoices.get(invoice).status === 'open') closeInvoice(world, invoice, 'void');
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { status: 'incomplete_expired', ended_at: subscription.ended_at ?? world.now() });
  });
}
