import { expect, it } from 'vitest';
import { matches } from '../../worker/operations/stripe-setup/stripe-setup.ts';

const there = { on: true, mode: 'late', list: ['b', 'a'], rules: [{ type: 'down', more: 1 }], extra: null };

it.each([
  ['less than is there', { on: true }, true],
  ['a list in another order', { list: ['a', 'b'] }, true],
  ['a list of things that say less', { rules: [{ type: 'down' }] }, true],
  ['another value', { mode: 'early' }, false],
  ['a longer list', { list: ['a', 'b', 'c'] }, false],
  ['a shorter list', { list: ['a'] }, false],
  ['what is missing', { absent: false }, false],
  ['something inside of nothing', { extra: { on: true } }, false],
])('tells whether %s holds', (_, wanted, expected) => {
  expect(matches(there, wanted)).toBe(expected);
});
