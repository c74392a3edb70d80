import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Latencies } from './latencies.ts';

/** Adds enough calls that took so many ms. */
function addCalls(latencies: Latencies, ms: number): void {
  for (let call = 0; call < 40; call += 1) latencies.add(performance.now() - ms);
}

test('calls that met one of several faults are not compared', async () => {
  const latencies = new Latencies();
  latencies.disturb();
  latencies.disturb();
  addCalls(latencies, 100);
  latencies.calm();
  addCalls(latencies, 100);
  latencies.calm();
  addCalls(latencies, 100);
  await sleep(500);
  addCalls(latencies, 10);
  latencies.attack(true);
  await sleep(500);
  addCalls(latencies, 20);
  const { calm, attacked, calls } = latencies.compare()!;
  expect([calm, attacked, calls]).toEqual([expect.closeTo(10, 0), expect.closeTo(20, 0), 80]);
});
