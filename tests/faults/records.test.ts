import { expect, test } from 'vitest';
import { Latencies } from './records.ts';

test('calls that met one of several faults are not compared', () => {
  let now = 0;
  const latencies = new Latencies(() => now);
  const addCalls = (ms: number) => Array.from({ length: 40 }, () => latencies.add(now - ms));
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
