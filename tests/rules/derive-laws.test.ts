import * as fc from 'fast-check';
import type { Stripe } from 'stripe';
import { expect, it } from 'vitest';
import { derive, planAfterTrialMetadata, type SubscriptionState } from '../../worker/billing/derive.ts';
import { paidPlanIds, planOf, plans } from '../../worker/contract/plans.ts';
import { instant, prices, subscription, week } from './models.ts';

const soldTier = ({ items }: Stripe.Subscription) => items.data[0]!.price.metadata['tier']!;
/** Every subscription of these tests was paid for until the week before its period. */
const paidFrom = ({ items }: Stripe.Subscription) => (items.data[0]!.current_period_start - week) * 1000;

function state(all: Stripe.Subscription[], trialEndsAt: number | null = null) {
  const paidTier = (each: Stripe.Subscription) => paidPlanIds.find((id) => id === soldTier(each)) ?? null;
  const paidWeeks = new Map(all.map((each) => [each.id, { start: paidFrom(each), tier: paidTier(each) }]));
  return derive(all, { trialEndsAt, heldTier: 'free', prices, paidWeeks });
}

const dead = ['canceled', 'incomplete', 'incomplete_expired', 'a status of next year'];
const live = ['active', 'trialing', 'past_due', 'unpaid', 'paused'];

const second = instant.map((ms) => Math.floor(ms / 1000));
const factsOf = (statuses: string[], tiers: readonly string[]) =>
  fc.record({
    status: fc.constantFrom(...statuses),
    tier: fc.constantFrom(...tiers),
    from: second,
    cancelAfter: fc.option(fc.nat(week), { freq: 2 }),
    atPeriodEnd: fc.boolean(),
    next: fc.option(fc.constantFrom(...prices.keys()), { freq: 2 }),
    trialEnd: fc.option(second, { freq: 2 }),
    waited: fc.boolean(),
  });

const anyFacts = factsOf([...live, ...dead], [...paidPlanIds, 'diamond']);
type Facts = typeof anyFacts extends fc.Arbitrary<infer Each> ? Each : never;
const liveFacts = factsOf(live, paidPlanIds);
const worthless = fc.oneof(factsOf(dead, paidPlanIds), factsOf(live, ['diamond', 'free', 'constructor']));

/** Subscriptions as Stripe lists them; each was made at another second. */
const asStripe = (all: Facts[]) =>
  all.map(({ status, tier, from, cancelAfter, atPeriodEnd, next, trialEnd, waited }, index) => {
    const end = from + week;
    const phases = [{ start_date: end, end_date: end + week, items: [{ price: next }] }];
    return subscription({
      id: `sub_${index}`,
      status,
      tier,
      from,
      metadata: waited ? planAfterTrialMetadata : {},
      created: from * 100 + index,
      cancel_at: cancelAfter === null ? null : from + cancelAfter,
      cancel_at_period_end: atPeriodEnd,
      ended_at: status === 'canceled' ? end : null,
      trial_end: trialEnd,
      schedule: next && { status: 'active', current_phase: { start_date: from, end_date: end }, phases },
    });
  });

/** Checks a law for 500 sets of subscriptions, beside a trial of ours or without one. */
const always = (
  law: (state: SubscriptionState, all: Stripe.Subscription[], trialEndsAt: number | null) => void,
): void =>
  fc.assert(
    fc.property(fc.array(anyFacts, { maxLength: 5 }), fc.option(instant), (facts, trialEndsAt) => {
      const all = asStripe(facts);
      law(state(all, trialEndsAt), all, trialEndsAt);
    }),
    { numRuns: 500 },
  );

it('grants a paid plan, or free', () => {
  always(({ tier }, all) => {
    const granting = all.filter(({ status }) => ['active', 'trialing', 'past_due'].includes(status));
    const sold = paidPlanIds.filter((id) => granting.some((each) => soldTier(each) === id));
    expect(['free', ...sold]).toContain(tier);
  });
});

it('grants nothing for an unknown status or price, or an ended subscription', () => {
  fc.assert(
    fc.property(fc.array(liveFacts, { maxLength: 3 }), fc.array(worthless, { maxLength: 3 }), (good, bad) => {
      const { hadSubscription: _, live: _live, unknownPrice: _price, ...expected } = state(asStripe(good));
      expect(state(asStripe([...good, ...bad]))).toMatchObject(expected);
    }),
    { numRuns: 500 },
  );
});

it('does not depend on the order in which Stripe lists the subscriptions', () => {
  always((forwards, all, trialEndsAt) => {
    const { unknownPrice } = forwards;
    expect({ ...state(all.toReversed(), trialEndsAt), unknownPrice }).toEqual(forwards);
  });
});

it('is not lowered by one more subscription that is paid', () => {
  const paid = factsOf(['active'], paidPlanIds);
  fc.assert(
    fc.property(fc.array(anyFacts, { maxLength: 4 }), paid, (facts, more) => {
      const before = state(asStripe(facts));
      fc.pre(before.status !== 'past_due');
      const least = Math.max(plans[before.tier].level, planOf(more.tier).level);
      expect(plans[state(asStripe([...facts, more])).tier].level).toBeGreaterThanOrEqual(least);
    }),
    { numRuns: 500 },
  );
});

it('lets a paid week last until the next one is paid, and no other', () => {
  always(({ weekFrozen, tier, weekAnchor }) => {
    expect(weekFrozen).toBe(weekAnchor !== null);
    if (weekFrozen) expect(tier).not.toBe('free');
  });
});

it('is unpaid only for a free user', () => {
  always(({ status, tier, weekAnchor }) => {
    if (status === 'unpaid') expect({ tier, weekAnchor }).toEqual({ tier: 'free', weekAnchor: null });
  });
});

it('announces a change to a lower plan, or at a trial to another one, and never beside a cancellation', () => {
  always(({ status, tier, scheduledTier, cancelAt }) => {
    if (status === 'downgrade_scheduled') expect(plans[scheduledTier!].level).toBeLessThan(plans[tier].level);
    if (scheduledTier !== null)
      expect({ cancelAt, same: scheduledTier === tier }).toEqual({ cancelAt: null, same: false });
    if (status === 'cancellation_scheduled') expect(cancelAt).not.toBeNull();
  });
});

it('counts weeks by the paid period of a paying user, and by no other', () => {
  always(({ weekAnchor }, all) => expect([null, ...all.map(paidFrom)]).toContain(weekAnchor));
});

it('reports two live subscriptions as doubled', () => {
  always(({ doubled }, all) => {
    const sold = all.filter((each) => live.includes(each.status) && soldTier(each) !== 'diamond');
    expect(doubled).toBe(sold.length > 1);
  });
});

it('ends a trial of ours only by a subscription that waited for it and waits no more', () => {
  always(({ endsTrial }, all, trialEndsAt) => {
    const begun = all.some(({ metadata, status }) => metadata['begins'] && status !== 'trialing');
    if (endsTrial) expect({ trial: trialEndsAt !== null, begun }).toEqual({ trial: true, begun: true });
  });
});
