import { expect, it } from 'vitest';
import { parseLimits } from '../../worker/lib/rate-limits.ts';

it('reads several limits on one thing', () => {
  expect(parseLimits(' 1/30s 5/1h  10/1d ')).toEqual([
    { most: 1, per: 30_000 },
    { most: 5, per: 3_600_000 },
    { most: 10, per: 86_400_000 },
  ]);
});
