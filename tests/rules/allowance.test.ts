import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it, afterEach } from 'vitest';
import { currentWeek, currentWeekSql, weekMs } from '../../worker/usage/week.ts';
import { instant, openRows } from './models.ts';
import { paidPlanIds, planIds, plans } from '../../worker/contract/plans.ts';
import {
  entitledTier,
  entitledTierSql,
  fitsAllowanceSql,
  onTrial,
  voiceSql,
  usageResponse,
} from '../../worker/usage/allowance.ts';

describe('every week', () => {
  /** At any time, or near a boundary of weeks, where rules break. */
  const offset = fc.oneof(
    fc.integer({ min: -60 * weekMs, max: 520 * weekMs }),
    fc
      .integer({ min: -60, max: 520 })
      .chain((weeks) => fc.constantFrom(-1, 0, 1).map((off) => weeks * weekMs + off)),
  );
  const weeksAndNow = fc
    .tuple(
      fc.record({ weekAnchor: instant, weekFrozen: fc.boolean() }),
      offset,
      fc.nat(520),
      instant,
      fc.boolean(),
    )
    .map(([weeks, off, nth, other, isOwn]) => {
      const weekStart = isOwn ? weeks.weekAnchor + nth * weekMs : other;
      const { weekAnchor } = weeks;
      return {
        weeks: { ...weeks, weekStart },
        now: isOwn && off % 2 ? weekStart + (off % 180_000) : weekAnchor + off,
      };
    });
  const running = weeksAndNow.map(({ weeks, now }) => ({
    weeks: { ...weeks, weekFrozen: false },
    now,
  }));

  it('contains the current instant, a whole number of weeks after its anchor, unless the anchor is in the future', () => {
    fc.assert(
      fc.property(running, ({ weeks, now }) => {
        const start = currentWeek(weeks, now);
        if (now < weeks.weekAnchor) expect(start).toBe(weeks.weekAnchor);
        else if (start > now)
          expect([weeks.weekStart, start - now <= 60_000]).toEqual([start, true]);
        else expect(now).toBeLessThan(start + weekMs);
        expect((start - weeks.weekAnchor) % weekMs).toBe(0);
      }),
    );
  });

  it('is the next one, up to a minute before it begins, once something was counted in it', () => {
    const own = {
      weekAnchor: 0,
      weekFrozen: false,
      weekStart: 3 * weekMs,
    };
    const before = (ms: number) => currentWeek(own, own.weekStart - ms) / weekMs;
    expect([0, 1, 60_000, 60_001].map(before)).toEqual([3, 3, 3, 2]);
    expect(currentWeek({ ...own, weekStart: 3 * weekMs + 1 }, 3 * weekMs - 1)).toBe(2 * weekMs);
  });

  it('stands still while it is frozen', () => {
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        expect(currentWeek({ ...weeks, weekFrozen: true }, now)).toBe(weeks.weekAnchor);
      }),
    );
  });

  it('is the same in the database as in the Worker', () => {
    const rows = openRows(
      'create table users (week_anchor integer, week_frozen integer, week_start integer)',
    );
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        rows.run(sql`delete from users`);
        rows.run(
          sql`insert into users values (${weeks.weekAnchor}, ${weeks.weekFrozen ? 1 : 0}, ${weeks.weekStart})`,
        );
        const found = rows.row<{ week: number }>(
          sql`select ${currentWeekSql(now)} as week from users`,
        );
        expect(found?.week).toBe(currentWeek(weeks, now));
      }),
      { numRuns: 500 },
    );
  });
});

describe('every entitlement', () => {
  const trial = fc.oneof(
    fc.constant({ trialTier: null, trialEndsAt: null }),
    fc.record({
      trialTier: fc.constantFrom(...paidPlanIds),
      trialEndsAt: instant,
    }),
  );
  const heldAndNow = fc
    .tuple(fc.constantFrom(...planIds), fc.boolean(), trial, instant, fc.constantFrom(-1, 0, 1))
    .chain(([tier, tierWaits, given, any, off]) =>
      fc.record({
        held: fc.constant({ tier, tierWaits, ...given }),
        now: fc.constantFrom(any, (given.trialEndsAt ?? any) + off),
      }),
    );

  it('is the plan of the subscription or of the trial, never lowered by a trial that the subscription does not wait for', () => {
    fc.assert(
      fc.property(heldAndNow, ({ held, now }) => {
        const tier = entitledTier(held, now);
        expect([held.tierWaits ? 'free' : held.tier, held.trialTier]).toContain(tier);
        if (!held.tierWaits)
          expect(plans[tier].level).toBeGreaterThanOrEqual(plans[held.tier].level);
      }),
    );
  });

  it('ignores a trial from the instant of its end, and grants a plan that waited for it once that is paid', () => {
    fc.assert(
      fc.property(heldAndNow, ({ held }) => {
        fc.pre(held.trialEndsAt !== null);
        expect(onTrial(held, held.trialEndsAt)).toBe(false);
        expect(entitledTier(held, held.trialEndsAt)).toBe(held.tierWaits ? 'free' : held.tier);
      }),
    );
  });

  it('is the same in the database as in the Worker, with its allowance and its voice', () => {
    const rows = openRows(
      'create table users (tier text, tier_waits integer, trial_tier text, trial_ends_at integer)',
    );
    fc.assert(
      fc.property(heldAndNow, fc.nat(200), ({ held, now }, messages) => {
        const { tier: heldTier, tierWaits, trialTier, trialEndsAt } = held;
        rows.run(sql`delete from users`);
        rows.run(
          sql`insert into users values (${heldTier}, ${tierWaits ? 1 : 0}, ${trialTier}, ${trialEndsAt})`,
        );
        const tier = entitledTierSql(now);
        const found = rows.row(
          sql`select ${tier} as tier, ${fitsAllowanceSql(sql`${messages}`, tier)} as fits, ${voiceSql(tier)} as voice from users`,
        );
        const expected = plans[entitledTier(held, now)];
        expect(found).toEqual({
          tier: expected.id,
          fits: messages <= expected.messageLimit! ? 1 : 0,
          voice: expected.hasVoice ? 1 : 0,
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('a plan without a limit', () => {
  const { messageLimit } = plans.platinum;
  const rows = openRows('create table empty (at integer)');

  /** Whether so many messages a week fit the platinum plan, as evaluated by the database. */
  const fits = (messages: number) =>
    rows.row<{ fits: number }>(
      sql`select ${fitsAllowanceSql(sql`${messages}`, sql`'platinum'`)} as fits`,
    )!.fits;

  afterEach(() => {
    plans.platinum.messageLimit = messageLimit;
  });

  it.each([-1, null])(
    'lets every message of a plan with the limit %s pass, and names -1 to the bot',
    (limit) => {
      plans.platinum.messageLimit = limit;
      expect([0, 1, 160, 1_000_000].map(fits)).toEqual([1, 1, 1, 1]);
      const response = usageResponse({
        allowed: true,
        used: 1_000_000,
        tier: 'platinum',
        resetsAt: 0,
      });
      expect(response).toMatchObject({
        allowed: true,
        used: 1_000_000,
        limit: -1,
        remaining: -1,
      });
    },
  );
});
