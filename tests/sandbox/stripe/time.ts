import { realSeconds } from './clock.ts';
import { customerOf, nextDue, runDue } from './due.ts';
import type { Due } from './table.ts';
import type { Webhooks } from './webhooks/index.ts';
import type { Atomically } from './api/call.ts';
import type { World } from './types/world.ts';

const tickMs = 1000;

/** Runs the changes that are due: every second, and when the clock is advanced. */
export function createTime(world: World, webhooks: Webhooks, atomically: Atomically) {
  let last = Promise.resolve(0);
  let isAdvancing = false;

  /** Runs every change until then, in order; a customer's next change waits for the delivery of its events. */
  function advance(seconds: number): Promise<number> {
    last = last.then(() => pass(seconds));
    return last;
  }

  async function pass(seconds: number): Promise<number> {
    const target = world.clock.offset() + seconds;
    isAdvancing = true;
    try {
      for (let due = nextBy(target); due; due = nextBy(target)) await step(due);
    } finally {
      isAdvancing = false;
    }
    world.clock.setOffset(target);
    await webhooks.queues.allSettled();
    return world.now();
  }

  function nextBy(offset: number): Due | undefined {
    const due = nextDue(world);
    return due && due.at <= realSeconds() + offset ? due : undefined;
  }

  async function step(due: Due): Promise<void> {
    const queue = customerOf(world, due);
    if (webhooks.queues.isBusy(queue)) return webhooks.queues.settled(queue);
    const ahead = due.at - realSeconds();
    if (ahead > world.clock.offset()) world.clock.setOffset(ahead);
    atomically(() => runDue(world, due));
  }

  function tick(): void {
    if (isAdvancing) return;
    for (let due = nextBy(world.clock.offset()); due; due = nextBy(world.clock.offset())) {
      const present = due;
      atomically(() => runDue(world, present));
    }
  }

  const timer = setInterval(tick, tickMs).unref();
  return { advance, close: () => clearInterval(timer) };
}
