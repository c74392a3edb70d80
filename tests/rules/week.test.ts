import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currentWeek, currentWeekSql, weekMs } from '../../worker/usage/week.ts';
import { instant, openRows } from './models.ts';

describe('every week', () => {
  /** At any time, or near a boundary of weeks, where rules break. */
  const offset = fc.oneof(
    fc.integer({ min: -60 * weekMs, max: 520 * weekMs }),
    fc.integer({ min: -60, max: 520 }).chain((weeks) => fc.constantFrom(-1, 0, 1).map((off) => weeks * weekMs + off)),
  );
  const weeksAndNow = fc
    .tuple(fc.record({ weekAnchor: instant, weekFrozen: fc.boolean(), weekStart: instant }), offset)
    .map(([weeks, off]) => ({ weeks, now: weeks.weekAnchor + off }));
  const running = weeksAndNow.map(({ weeks, now }) => ({ weeks: { ...weeks, weekFrozen: false }, now }));

  it('contains the current instant, a whole number of weeks after its anchor, unless the anchor is in the future', () => {
    fc.assert(
      fc.property(running, ({ weeks, now }) => {
        const start = currentWeek(weeks, now);
        if (now < weeks.weekAnchor) expect(start).toBe(weeks.weekAnchor);
        else expect(start <= now && now < start + weekMs).toBe(true);
        expect((start - weeks.weekAnchor) % weekMs).toBe(0);
      }),
    );
  });

  it('stands still while it is frozen', () => {
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        expect(currentWeek({ ...weeks, weekFrozen: true }, now)).toBe(weeks.weekAnchor);
      }),
    );
  });

  it('is the same in the database as in the Worker', () => {
    const rows = openRows('create table users (week_anchor integer, week_frozen integer, week_start integer)');
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        rows.run(sql`delete from users`);
        rows.run(sql`insert into users values (${weeks.weekAnchor}, ${weeks.weekFrozen ? 1 : 0}, ${weeks.weekStart})`);
        const found = rows.row<{ week: number }>(sql`select ${currentWeekSql(now)} as week from users`);
        expect(found?.week).toBe(currentWeek(weeks, now));
      }),
      { numRuns: 500 },
    );
  });
});
