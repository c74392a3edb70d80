import { realSeconds, type Scope } from './clock.ts';
import { nextDue, runDue } from './due.ts';
import { createQueues } from './webhooks/queues.ts';
import type { Due } from './table.ts';
import type { Webhooks } from './webhooks/index.ts';
import type { Atomically } from './api/call.ts';
import type { World } from './types/world.ts';

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
    atomically(due.customer, () => runDue(world, due));
  }

  /** The changes of a customer whose clock is being advanced are left to that pass. */
  function tick(): void {
    if (passes.isBusy('')) return;
    const next = () => nextDue(world, ({ customer }) => !passes.isBusy(customer));
    for (let due = next(); due && due.at <= world.clock.now(due.customer); due = next()) {
      const present = due;
      atomically(present.customer, () => runDue(world, present));
    }
  }

  const timer = setInterval(tick, tickMs).unref();
  return { advance, close: () => clearInterval(timer) };
}
