import { expect, test } from 'vitest';
import { describePlan, measureCapacity, planFor } from './capacity.ts';

test('runs five steps at once on two idle cores', () => {
  expect(planFor({ free: 2 })).toEqual({ together: 5, apiShards: 3, browserWorkers: 2 });
});

test('runs two steps at once beside four busy processes on two cores', () => {
  expect(planFor({ free: 2 / 3 })).toEqual({ together: 2, apiShards: 1, browserWorkers: 1 });
});

test('runs one step at once where there is next to no room, and never more than nine', () => {
  expect(planFor({ free: 0.01 }).together).toBe(1);
  expect(planFor({ free: 128 }).together).toBe(9);
});

test('measures at most the processors of the machine, and says how many are free', async () => {
  const capacity = await measureCapacity();
  expect(capacity.free).toBeGreaterThan(0);
  expect(capacity.free).toBeLessThanOrEqual(capacity.cores);
  expect(describePlan({ cores: 4, free: 1, load: 3.14 }, planFor({ free: 1 }))).toBe(
    '25 % of 4 cores are free (load 3.1): 3 steps at once, 1 browser tests.',
  );
});
