import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { planIds, plans } from '../../../worker/contract/plans.ts';
import { entitledTier, entitledTierSql, fitsLimitSql, onTrial, voiceSql } from '../../../worker/usage/allowance.ts';
import { instant } from './instants.ts';
import { openRows } from './rows.ts';

const plan = fc.constantFrom(...planIds);
const paidPlan = fc.constantFrom('basic', 'premium', 'platinum' as const);
const trial = fc.oneof(
  fc.constant({ trialTier: null, trialEndsAt: null }),
  fc.record({ trialTier: paidPlan, trialEndsAt: instant }),
);
const heldAndNow = fc
  .tuple(plan, fc.boolean(), trial, instant, fc.constantFrom(-1, 0, 1))
  .chain(([tier, tierWaits, given, any, off]) =>
    fc.record({
      held: fc.constant({ tier, tierWaits, ...given }),
      now: fc.constantFrom(any, (given.trialEndsAt ?? any) + off),
    }),
  );

it('is the plan of the subscription or of the trial, no third one', () => {
  fc.assert(
    fc.property(heldAndNow, ({ held, now }) => {
      expect([held.tier, held.trialTier]).toContain(entitledTier(held, now));
    }),
  );
});

it('is never lowered by a trial, unless the subscription waits for the trial to end', () => {
  fc.assert(
    fc.property(heldAndNow, ({ held, now }) => {
      if (held.tierWaits) return;
      expect(plans[entitledTier(held, now)].level).toBeGreaterThanOrEqual(plans[held.tier].level);
    }),
  );
});

it('ignores a trial from the instant of its end', () => {
  fc.assert(
    fc.property(heldAndNow, ({ held }) => {
      fc.pre(held.trialEndsAt !== null);
      expect(onTrial(held, held.trialEndsAt)).toBe(false);
      expect(entitledTier(held, held.trialEndsAt)).toBe(held.tier);
    }),
  );
});

it('is the same in the database as in the Worker, with its allowance and its voice', () => {
  const rows = openRows('create table users (tier text, tier_waits integer, trial_tier text, trial_ends_at integer)');
  fc.assert(
    fc.property(heldAndNow, fc.nat(200), ({ held, now }, messages) => {
      rows.run(sql`delete from users`);
      rows.run(sql`insert into users values
        (${held.tier}, ${held.tierWaits ? 1 : 0}, ${held.trialTier}, ${held.trialEndsAt})`);
      const tier = entitledTierSql(now);
      const found = rows.row(
        sql`select ${tier} as tier, ${fitsLimitSql(sql`${messages}`, tier)} as fits, ${voiceSql(tier)} as voice from users`,
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
