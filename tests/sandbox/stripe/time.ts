import { realSeconds } from './clock.ts';
import { customerOf, nextDue, runDue } from './due.ts';
import type { Due } from './table.ts';
import type { Webhooks } from './webhooks/index.ts';
import type { Atomically } from './api/call.ts';
import type { World } from './types/world.ts';

const tickMs = 1000;

/** Lets time pass: by itself, and as far ahead as one asks. */
export function createTime(world: World, webhooks: Webhooks, atomically: Atomically) {
  let turn = Promise.resolve(0);
  let isAdvancing = false;

  /** Everything until then happens in order; a customer's next change waits until their last one was told. */
  function advance(seconds: number): Promise<number> {
    turn = turn.then(() => pass(seconds));
    return turn;
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
    await webhooks.lanes.allSettled();
    return world.now();
  }

  function nextBy(offset: number): Due | undefined {
    const due = nextDue(world);
    return due && due.at <= realSeconds() + offset ? due : undefined;
  }

  async function step(due: Due): Promise<void> {
    const lane = customerOf(world, due);
    if (webhooks.lanes.isBusy(lane)) return webhooks.lanes.settled(lane);
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
