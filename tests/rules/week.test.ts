import { expect, it } from 'vitest';
import { currentWeek, weekMs } from '../../worker/usage/week.ts';

const anchor = Date.UTC(2026, 0, 7, 10, 30);
const weeks = { weekAnchor: anchor, weekFrozen: false, weekStart: anchor };

it('lasts seven days from its anchor, to the millisecond', () => {
  expect(currentWeek(weeks, anchor)).toBe(anchor);
  expect(currentWeek(weeks, anchor + weekMs - 1)).toBe(anchor);
  expect(currentWeek(weeks, anchor + weekMs)).toBe(anchor + weekMs);
});

it('follows the clock without any event in between', () => {
  expect(currentWeek(weeks, anchor + 53 * weekMs + 1)).toBe(anchor + 53 * weekMs);
});

it("is the anchor's own week while the anchor lies ahead of our clock", () => {
  expect(currentWeek(weeks, anchor - 3 * weekMs)).toBe(anchor);
});

it('does not end while it is frozen', () => {
  const frozen = { weekAnchor: anchor, weekFrozen: true, weekStart: anchor - 3 * weekMs };
  expect(currentWeek(frozen, anchor + 5 * weekMs)).toBe(anchor);
  const begun = { ...frozen, weekStart: anchor + weekMs };
  expect(currentWeek(begun, anchor + 5 * weekMs)).toBe(anchor + weekMs);
});
