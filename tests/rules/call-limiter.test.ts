import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallLimiter } from '../../worker/lib/rate-limits.ts';

const minute = 60_000;
const start = Date.UTC(2026, 10, 2);

it('lets a key through 240 times in any minute, and names the instant at which it may call again', () => {
  const limiter = new CallLimiter([{ most: 240, per: minute }]);
  const results = Array.from({ length: 241 }, (_, index) => limiter.count('user', start + index * 100));
  expect(results.slice(0, 240).every((allowedAt) => allowedAt === 0)).toBe(true);
  expect(results[240]).toBe(start + minute);
  expect(limiter.count('user', start + minute - 1)).toBe(start + minute);
  expect(limiter.count('user', start + minute)).toBe(0);
  expect(limiter.count('user', start + minute)).toBe(start + minute + 100);
});

it('counts each key for itself, and a refused call for nobody', () => {
  const limiter = new CallLimiter([{ most: 1, per: minute }]);
  expect(limiter.count('one', start)).toBe(0);
  for (let again = 0; again < 5; again += 1) expect(limiter.count('one', start + again)).toBe(start + minute);
  expect(limiter.count('other', start)).toBe(0);
  expect(limiter.count('one', start + minute)).toBe(0);
});

it('removes a call that turns out not to belong to the key', () => {
  const limiter = new CallLimiter([{ most: 2, per: minute }]);
  expect(limiter.count('user', start)).toBe(0);
  expect(limiter.count('user', start + 1)).toBe(0);
  limiter.giveBack('user', start + 1);
  limiter.giveBack('user', start + 1);
  expect(limiter.count('user', start + 2)).toBe(0);
  expect(limiter.count('user', start + 3)).toBe(start + minute);
});

it('allows no window more calls than a limit, and refuses none within it', () => {
  const limit = fc.record({ most: fc.integer({ min: 1, max: 5 }), per: fc.constantFrom(100, 1000, minute) });
  const pauses = fc.array(fc.constantFrom(0, 1, 50, 99, 100, 999, 1000, minute), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(limit, { minLength: 1, maxLength: 3 }), pauses, (limits, waits) => {
      const limiter = new CallLimiter(limits);
      const accepted: number[] = [];
      let now = start;
      for (const wait of waits) {
        now += wait;
        const fits = limits.every(({ most, per }) => accepted.filter((at) => at > now - per).length < most);
        const done = limiter.count('user', now) === 0;
        expect(done).toBe(fits);
        if (done) accepted.push(now);
      }
    }),
  );
});
