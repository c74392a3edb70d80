import { expect, test } from 'vitest';
import { Latencies } from './records.ts';

test('calls that met one of several faults are not compared', () => {
  let now = 0;
  const latencies = new Latencies(() => now);
  /** Adds enough calls that took so many ms. */
  const addCalls = (ms: number) => {
    for (let call = 0; call < 40; call += 1) latencies.add(now - ms);
  };
  latencies.disturb();
  latencies.disturb();
  addCalls(100);
  latencies.calm();
  addCalls(100);
  latencies.calm();
  addCalls(100);
  now += 500;
  addCalls(10);
  latencies.attack(true);
  now += 500;
  addCalls(20);
  expect(latencies.compare()).toEqual({ calm: 10, attacked: 20, calls: 80 });
});
