import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { currentWeek, currentWeekSql, weekMs } from '../../../worker/usage/week.ts';
import { instant, nearMultiple } from './instants.ts';
import { openRows } from './rows.ts';

const weeksAndNow = instant.chain((weekAnchor) =>
  fc.record({
    weeks: fc.record({ weekAnchor: fc.constant(weekAnchor), weekFrozen: fc.boolean(), weekStart: instant }),
    now: fc.oneof(instant, nearMultiple(weekAnchor, weekMs)),
  }),
);
const running = weeksAndNow.map(({ weeks, now }) => ({ weeks: { ...weeks, weekFrozen: false }, now }));

it('contains the current instant, unless the anchor is in the future', () => {
  fc.assert(
    fc.property(running, ({ weeks, now }) => {
      const start = currentWeek(weeks, now);
      if (now < weeks.weekAnchor) expect(start).toBe(weeks.weekAnchor);
      else expect(start <= now && now < start + weekMs).toBe(true);
    }),
  );
});

it('begins a whole number of weeks after its anchor, never before it', () => {
  fc.assert(
    fc.property(running, ({ weeks, now }) => {
      const since = currentWeek(weeks, now) - weeks.weekAnchor;
      expect(since).toBeGreaterThanOrEqual(0);
      expect(since % weekMs).toBe(0);
    }),
  );
});

it('never goes back while time goes on', () => {
  fc.assert(
    fc.property(weeksAndNow, fc.nat(100 * weekMs), ({ weeks, now }, later) => {
      expect(currentWeek(weeks, now + later)).toBeGreaterThanOrEqual(currentWeek(weeks, now));
    }),
  );
});

it('does not depend on how often it was computed: a stored week leads to the same next one', () => {
  fc.assert(
    fc.property(running, fc.array(fc.nat(3 * weekMs), { maxLength: 8 }), ({ weeks, now }, steps) => {
      let stored = weeks;
      let clock = now;
      for (const step of steps) {
        clock += step;
        stored = { ...stored, weekStart: currentWeek(stored, clock) };
      }
      expect(currentWeek(stored, clock)).toBe(currentWeek(weeks, clock));
    }),
  );
});

it('stands still while it is frozen', () => {
  fc.assert(
    fc.property(weeksAndNow, instant, ({ weeks, now }, later) => {
      const frozen = { ...weeks, weekFrozen: true };
      const standing = Math.max(frozen.weekStart, frozen.weekAnchor);
      expect(currentWeek(frozen, now)).toBe(standing);
      expect(currentWeek(frozen, later)).toBe(standing);
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
