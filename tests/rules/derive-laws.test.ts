import * as fc from 'fast-check';
import type { Stripe } from 'stripe';
import { expect, it } from 'vitest';
import { derive, planAfterTrialMetadata } from '../../worker/billing/derive.ts';
import { paidPlanIds, planOf, plans, type PaidPlanId, type PlanId } from '../../worker/contract/plans.ts';
import { instant } from './models.ts';

const weekSeconds = 7 * 86_400;
const prices = new Map<string, PaidPlanId | null>([
  ['price_basic', 'basic'],
  ['price_premium', 'premium'],
  ['price_platinum', 'platinum'],
  ['price_unknown', null],
]);

const tierOf = (name: string | undefined) => paidPlanIds.find((id) => id === name) ?? null;

/** Every subscription of these tests was paid for until the week before its period. */
const paidUntil = (all: Stripe.Subscription[]) =>
  new Map(
    all.map(({ id, items }) => {
      const { current_period_start: from, price } = items.data[0]!;
      return [id, { start: (from - weekSeconds) * 1000, tier: tierOf(price.metadata['tier']) }] as const;
    }),
  );

const heldTier: PlanId = 'free';
const deriveWith = (all: Stripe.Subscription[], trialEndsAt: number | null) =>
  derive(all, { trialEndsAt, heldTier, prices, paidWeeks: paidUntil(all) });

type Facts = {
  status: string;
  tier: string;
  from: number;
  cancelAfter: number | null;
  atPeriodEnd: boolean;
  next: string | null;
  trialEnd: number | null;
  waited: boolean;
};

const dead = ['canceled', 'incomplete', 'incomplete_expired', 'a status of next year'];
const live = ['active', 'trialing', 'past_due', 'unpaid', 'paused'];
const knownTiers = ['basic', 'premium', 'platinum'];

function factsOf(statuses: string[], tiers: string[]): fc.Arbitrary<Facts> {
  return fc.record({
    status: fc.constantFrom(...statuses),
    tier: fc.constantFrom(...tiers),
    from: instant.map((ms) => Math.floor(ms / 1000)),
    cancelAfter: fc.option(fc.nat(weekSeconds), { freq: 2 }),
    atPeriodEnd: fc.boolean(),
    next: fc.option(fc.constantFrom(...prices.keys()), { freq: 1 }),
    trialEnd: fc.option(
      instant.map((ms) => Math.floor(ms / 1000)),
      { freq: 2 },
    ),
    waited: fc.boolean(),
  });
}

const anyFacts = factsOf([...live, ...dead], [...knownTiers, 'diamond']);
const liveFacts = factsOf(live, knownTiers);
const worthless = fc.oneof(factsOf(dead, knownTiers), factsOf(live, ['diamond', 'free', 'constructor']));
const trialEnd = fc.option(instant);

/** Subscriptions as Stripe lists them; each was made at another second. */
const asStripe = (all: Facts[]) => all.map(subscription);

function subscription(facts: Facts, index: number): Stripe.Subscription {
  const end = facts.from + weekSeconds;
  const price = { id: `price_${facts.tier}`, metadata: { tier: facts.tier }, lookup_key: null };
  const phases = [{ start_date: end, end_date: end + weekSeconds, items: [{ price: facts.next }] }];
  return {
    id: `sub_${index}`,
    status: facts.status,
    metadata: facts.waited ? planAfterTrialMetadata : {},
    created: facts.from * 100 + index,
    cancel_at: facts.cancelAfter === null ? null : facts.from + facts.cancelAfter,
    cancel_at_period_end: facts.atPeriodEnd,
    ended_at: facts.status === 'canceled' ? end : null,
    trial_end: facts.trialEnd,
    schedule: facts.next && { status: 'active', current_phase: { start_date: facts.from, end_date: end }, phases },
    items: { data: [{ price, current_period_start: facts.from, current_period_end: end }] },
  } as unknown as Stripe.Subscription;
}

const everySet = (check: (all: Stripe.Subscription[], trialEndsAt: number | null) => void, one = anyFacts) =>
  fc.assert(
    fc.property(fc.array(one, { maxLength: 5 }), trialEnd, (facts, ends) => check(asStripe(facts), ends)),
    { numRuns: 500 },
  );

it('grants a paid plan, or free', () => {
  everySet((all, trialEndsAt) => {
    const { tier } = deriveWith(all, trialEndsAt);
    const granting = all.filter(({ status }) => ['active', 'trialing', 'past_due'].includes(status));
    const sold = granting.map(({ items }) => items.data[0]!.price.metadata['tier']);
    expect(['free', ...sold.filter((name) => knownTiers.includes(name!))]).toContain(tier);
  });
});

it('grants nothing for an unknown status or price, or an ended subscription', () => {
  fc.assert(
    fc.property(fc.array(liveFacts, { maxLength: 3 }), fc.array(worthless, { maxLength: 3 }), (good, bad) => {
      const { hadSubscription: _, live: _live, unknownPrice: _price, ...expected } = deriveWith(asStripe(good), null);
      expect(deriveWith(asStripe([...good, ...bad]), null)).toMatchObject(expected);
    }),
    { numRuns: 500 },
  );
});

it('does not depend on the order in which Stripe lists the subscriptions', () => {
  everySet((all, trialEndsAt) => {
    const [{ unknownPrice: _one, ...forwards }, { unknownPrice: _other, ...backwards }] = [
      deriveWith(all, trialEndsAt),
      deriveWith(all.toReversed(), trialEndsAt),
    ];
    expect(backwards).toEqual(forwards);
  });
});

it('is not lowered by one more subscription that is paid', () => {
  const paid = factsOf(['active'], knownTiers);
  fc.assert(
    fc.property(fc.array(anyFacts, { maxLength: 4 }), paid, (facts, more) => {
      const before = deriveWith(asStripe(facts), null);
      fc.pre(before.status !== 'past_due');
      const after = deriveWith(asStripe([...facts, more]), null);
      expect(plans[after.tier].level).toBeGreaterThanOrEqual(plans[before.tier].level);
      expect(plans[after.tier].level).toBeGreaterThanOrEqual(planOf(more.tier).level);
    }),
    { numRuns: 500 },
  );
});

it('lets a paid week last until the next one is paid, and no other', () => {
  everySet((all, trialEndsAt) => {
    const { weekFrozen, tier, weekAnchor } = deriveWith(all, trialEndsAt);
    expect(weekFrozen).toBe(weekAnchor !== null);
    if (weekFrozen) expect(tier !== 'free' && weekAnchor !== null).toBe(true);
  });
});

it('is unpaid only for a free user', () => {
  everySet((all, trialEndsAt) => {
    const { status, tier, weekAnchor } = deriveWith(all, trialEndsAt);
    if (status === 'unpaid') expect({ tier, weekAnchor }).toEqual({ tier: 'free', weekAnchor: null });
  });
});

it('announces a change to a lower plan, or at a trial to another one, and never beside a cancellation', () => {
  everySet((all, trialEndsAt) => {
    const { status, tier, scheduledTier, cancelAt } = deriveWith(all, trialEndsAt);
    if (status === 'downgrade_scheduled') expect(plans[scheduledTier!].level).toBeLessThan(plans[tier].level);
    if (scheduledTier !== null)
      expect({ cancelAt, same: scheduledTier === tier }).toEqual({ cancelAt: null, same: false });
    if (status === 'cancellation_scheduled') expect(cancelAt).not.toBeNull();
  });
});

it('counts weeks by the paid period of a paying user, and by no other', () => {
  everySet((all, trialEndsAt) => {
    const { weekAnchor } = deriveWith(all, trialEndsAt);
    const starts = all.map(({ items }) => items.data[0]!.current_period_start * 1000);
    const paid = starts.map((start) => start - weekSeconds * 1000);
    expect([null, ...paid]).toContain(weekAnchor);
  });
});

it('reports two live subscriptions as doubled', () => {
  everySet((all, trialEndsAt) => {
    const living = all.filter(
      ({ status, items }) => live.includes(status) && knownTiers.includes(items.data[0]!.price.metadata['tier']!),
    );
    expect(deriveWith(all, trialEndsAt).doubled).toBe(living.length > 1);
  });
});

it('ends a trial of ours only by a subscription that waited for it and waits no more', () => {
  everySet((all, trialEndsAt) => {
    const { endsTrial } = deriveWith(all, trialEndsAt);
    const begun = all.filter(({ metadata, status }) => metadata['begins'] && status !== 'trialing');
    if (endsTrial)
      expect({ trial: trialEndsAt !== null, begun: begun.length > 0 }).toEqual({ trial: true, begun: true });
  });
});
