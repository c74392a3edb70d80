import { expect, it } from 'vitest';
import { memoize } from '../../worker/lib/memoize.ts';

it('makes a result once for each key, whatever it is', () => {
  const made: string[] = [];
  const make = memoize((key: string) => {
    made.push(key);
    return key === 'none' ? null : key.toUpperCase();
  });
  expect(['a', 'none', 'a', 'none', 'b'].map(make)).toEqual(['A', null, 'A', null, 'B']);
  expect(made).toEqual(['a', 'none', 'b']);
});

it('drops the result that was used least recently', () => {
  const made: number[] = [];
  const make = memoize((key: number) => made.push(key), 2);
  for (const key of [1, 2, 1, 3, 1, 2]) make(key);
  expect(made).toEqual([1, 2, 3, 2]);
});

it('keeps no result of a call that threw', () => {
  let calls = 0;
  const make = memoize(() => {
    calls += 1;
    if (calls === 1) throw new Error('not yet');
    return calls;
  });
  expect(() => make('key')).toThrow('not yet');
  expect(make('key')).toBe(2);
});
