import { realSeconds, type Scope } from './clock.ts';
import { createQueues, type Webhooks } from './webhooks.ts';
import { type Due, dueCollection } from './table.ts';
import type { Atomically, World } from './world.ts';
import { endSubscription, nextPhase } from './subscriptions/subscriptions.ts';
import { endTrial, renewSubscription } from './subscriptions/periods.ts';
import { finalizeInvoice } from './invoices/draft-invoice.ts';
import { collectAutomatically } from './invoices/invoices.ts';
import { expireSession } from './hosted/checkout.ts';
import { endRefund } from './payments/refunds.ts';
import { closeInvoice } from './invoices/collect-invoice.ts';

const tickMs = 1000;

/** Runs the changes that are due: every second, and when a clock is advanced. */
export function createTime(world: World, webhooks: Webhooks, atomically: Atomically) {
  const passes = createQueues();

  /**
   * Runs every change until then, in order, for one customer or for everybody ('') and returns the new time. A
   * customer's next change waits for the delivery of its events.
   */
  async function advance(seconds: number, scope: Scope = ''): Promise<number> {
    await passes.add(scope, () => pass(seconds, scope));
    return world.clock.now(scope);
  }

  async function pass(seconds: number, scope: Scope): Promise<void> {
    const target = world.clock.own(scope) + seconds;
    for (let due = nextBy(target, scope); due; due = nextBy(target, scope)) await step(due, scope);
    world.clock.setOwn(scope, target);
    await (scope === '' ? webhooks.queues.allSettled() : webhooks.queues.settled(scope));
  }

  /** The scope's offset at which a change is due. */
  function offsetOf({ at, customer }: Due, scope: Scope): number {
    return at - realSeconds() - (world.clock.offset(customer) - world.clock.own(scope));
  }

  function nextBy(offset: number, scope: Scope): Due | undefined {
    const due = nextDue(world, (each) => scope === '' || each.customer === scope);
    return due && offsetOf(due, scope) <= offset ? due : undefined;
  }

  async function step(due: Due, scope: Scope): Promise<void> {
    if (webhooks.queues.isBusy(due.customer)) return webhooks.queues.settled(due.customer);
    const ahead = offsetOf(due, scope);
    if (ahead > world.clock.own(scope)) world.clock.setOwn(scope, ahead);
    run(due);
  }

  const run = (due: Due) => atomically(due.customer, () => runDue(world, due));

  /** The changes of a customer whose clock is being advanced are left to that pass. */
  function tick(): void {
    if (passes.isBusy('')) return;
    const next = () => nextDue(world, ({ customer }) => !passes.isBusy(customer));
    for (let due = next(); due && due.at <= world.clock.now(due.customer); due = next()) run(due);
  }

  const timer = setInterval(tick, tickMs).unref();
  return { advance, close: () => clearInterval(timer) };
}

/** The order of changes that are due at the same second: a schedule sets the price before the renewal charges it. */
const order = ['schedules', 'subscriptions', 'invoices', 'checkoutSessions', 'refunds'];

/** The next of the wanted changes: the first on the real clock, since customers' clocks differ. */
function nextDue({ store, clock }: World, isWanted: (due: Due) => boolean): Due | undefined {
  const realAt = ({ at, customer }: Due) => at - clock.offset(customer);
  let first: Due | undefined;
  for (const due of store.list<Due>(dueCollection)) {
    if (!isWanted(due)) continue;
    const later = first ? realAt(due) - realAt(first) : -1;
    if (
      !first ||
      later < 0 ||
      (later === 0 && order.indexOf(due.table) < order.indexOf(first.table))
    )
      first = due;
  }
  return first;
}

function runDue(world: World, { table, id, at }: Due): void {
  if (table === 'schedules') nextPhase(world, id);
  else if (table === 'subscriptions') runSubscription(world, id, at);
  else if (table === 'invoices') runInvoice(world, id);
  else if (table === 'refunds') endRefund(world, id);
  else expireSession(world, id);
}

/** Finalizes a draft whose hour has passed, or charges an open invoice that is due. */
function runInvoice(world: World, id: string): void {
  const isDraft = world.invoices.get(id).status === 'draft';
  const { status } = isDraft ? finalizeInvoice(world, id) : world.invoices.get(id);
  if (status === 'open') collectAutomatically(world, id);
}

function runSubscription(world: World, id: string, at: number): void {
  const {
    status,
    cancel_at: cancelAt,
    trial_end: trialEnd,
    latest_invoice: invoice,
    pause_collection: pause,
  } = world.subscriptions.get(id);
  if (status === 'incomplete') closeInvoice(world, invoice ?? '');
  else if (pause?.resumes_at && pause.resumes_at <= at)
    world.subscriptions.change(id, { pause_collection: null });
  else if (cancelAt !== null && cancelAt <= at) endSubscription(world, id, { isPlanned: true });
  else if (status !== 'trialing' || trialEnd === null) renewSubscription(world, id);
  else endTrial(world, id, trialEnd);
}
