import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

export type Plan = { together: number; apiShards: number; browserWorkers: number };

const measuredMs = 600;

/**
 * How many processors' time these tests can have: all on an idle machine, a third beside twice as many busy ones. Takes
 * part in the competition for the processors for a moment and measures the share it gets. The load average lags a minute
 * behind: `npm ci` has just raised it, and a process that has just begun does not show in it yet.
 */
export async function measureCapacity(): Promise<number> {
  const cores = availableParallelism();
  const spin = `const end = performance.now() + ${measuredMs}; while (performance.now() < end);`;
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: cores }, () => once(new Worker(spin, { eval: true }), 'exit')));
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1000 / (performance.now() - begun);
  return Math.min(cores, share);
}

/**
 * What runs at once. A test waits for a part of its time, so there are more processes than processors; more than these
 * take each other's caches: on two idle cores, four steps took 540 s and five with three browser tests 629 s
 * (2026-11-23).
 */
export function planFor(free: number): Plan {
  const together = free < 0.4 ? 2 : between(3, Math.round(1 + free), 9);
  const browserWorkers = between(1, Math.round(1.4 + free * 0.4), 6);
  return { together, apiShards: between(1, together - 2, 6), browserWorkers };
}

function between(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
