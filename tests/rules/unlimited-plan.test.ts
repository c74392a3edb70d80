import { sql } from 'drizzle-orm';
import { afterEach, expect, it } from 'vitest';
import { plans } from '../../worker/contract/plans.ts';
import { fitsLimitSql, usageResponse } from '../../worker/usage/allowance.ts';
import { openRows } from './properties/rows.ts';

const { messageLimit } = plans.platinum;
const rows = openRows('create table empty (at integer)');

/** Whether so many messages a week fit the platinum plan, as evaluated by the database. */
function fits(messages: number): boolean {
  return rows.row<{ fits: number }>(sql`select ${fitsLimitSql(sql`${messages}`, sql`'platinum'`)} as fits`)!.fits === 1;
}

const response = (used: number) =>
  usageResponse({ allowed: true, used, tier: 'platinum', resetsAt: Date.UTC(2026, 10, 9) });

afterEach(() => {
  plans.platinum.messageLimit = messageLimit;
});

it.each([-1, null])('lets every message of a plan with the limit %s pass, and names -1 to the bot', (limit) => {
  plans.platinum.messageLimit = limit;
  expect([0, 1, 160, 1_000_000].map(fits)).toEqual([true, true, true, true]);
  expect(response(1_000_000)).toMatchObject({ allowed: true, used: 1_000_000, limit: -1, remaining: -1 });
});

it('stops at the limit of a plan that has one', () => {
  expect([0, 160, 161].map(fits)).toEqual([true, true, false]);
  expect(response(150)).toMatchObject({ limit: 160, remaining: 10 });
  expect(response(170)).toMatchObject({ limit: 160, remaining: 0 });
});
