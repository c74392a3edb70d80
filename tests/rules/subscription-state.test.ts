import { describe, expect, it } from 'vitest';
import {
  derive,
  type Known,
  planAfterTrialMetadata,
  type SubscriptionState,
} from '../../worker/billing/subscription-state.ts';
import type { PaidWeek } from '../../worker/billing/invoices.ts';
import {
  hour,
  prices,
  subscription as subscriptionFrom,
  week,
  type Details,
  instant,
} from './models.ts';
import * as fc from 'fast-check';
import type { Stripe } from 'stripe';
import { paidPlanIds, planOf, plans } from '../../worker/contract/plans.ts';

const day = 24 * hour;
const start = Date.UTC(2026, 10, 2) / 1000;
const end = start + week;
const startMs = start * 1000;

const subscription = (details: Details = {}) =>
  subscriptionFrom({
    from: start,
    ...details,
  });

function schedule(next: string | null, status = 'active') {
  const phases = [
    {
      start_date: start,
      end_date: end,
      items: [{ price: 'price_premium' }],
    },
  ];
  if (next)
    phases.push({
      start_date: end,
      end_date: end + week,
      items: [{ price: next }],
    });
  return {
    status,
    current_phase: { start_date: start, end_date: end },
    phases,
  };
}

const known: Known = {
  trialEndsAt: null,
  heldTier: 'free',
  heldPause: null,
  heldWeek: null,
  prices,
  paidWeeks: new Map(),
};

const state = (details: Details | Details[], more: Partial<Known> = {}) =>
  derive([details].flat().map(subscription), { ...known, ...more });

/** What is known while the present period is not paid, after a last paid week. */
const lastPaid = (paid: PaidWeek | null) => ({ paidWeeks: new Map([['sub_1', paid]]) });
const weeksAgo = (weeks: number, tier: PaidWeek['tier'] = 'premium') => ({
  start: (start - weeks * week) * 1000,
  tier,
});

it('a user without a live subscription is free and active', () => {
  expect(state([])).toMatchObject({
    tier: 'free',
    status: 'active',
    renewalAt: null,
    weekAnchor: null,
  });
});

describe('a subscription', () => {
  it('that is active renews at the end of its paid week', () => {
    expect(state({})).toEqual({
      tier: 'premium',
      status: 'active',
      renewalAt: end * 1000,
      cancelAt: null,
      scheduledTier: null,
      collectionPause: null,
      resumesAt: null,
      weekAnchor: startMs,
      weekFrozen: true,
      tierWaits: false,
      endsTrial: false,
      isCutOff: false,
      hadSubscription: true,
      live: true,
      doubled: false,
      unknownPrice: null,
    });
  });

  it('takes its plan from the lookup key where the price says nothing itself', () => {
    expect(state({ lookupKey: 'basic_weekly' })).toMatchObject({ tier: 'basic' });
  });

  it('is cancelled at its cancel date, and at the end of the week by the older field', () => {
    const cancelled = {
      tier: 'premium',
      status: 'cancellation_scheduled',
      cancelAt: end * 1000,
    };
    expect(state({ cancel_at: end })).toMatchObject(cancelled);
    expect(state({ cancel_at_period_end: true })).toMatchObject(cancelled);
    expect(state({ status: 'trialing', cancel_at: end })).toMatchObject(cancelled);
  });

  it.each([
    ['the same plan', 'price_premium', 'active'],
    ['a dearer plan', 'price_platinum', 'active'],
    ['an unknown price', 'price_unknown', 'active'],
    ['nothing', null, 'active'],
    ['a lower plan, but was released', 'price_basic', 'released'],
  ])('whose schedule leads to %s is just active', (_, next, status) => {
    expect(state({ schedule: schedule(next, status) })).toMatchObject({
      status: 'active',
      scheduledTier: null,
    });
  });

  it('keeps plan and week of the last paid invoice until the renewal is paid', () => {
    const paid = weeksAgo(1);
    const kept = {
      tier: 'premium',
      status: 'active',
      weekFrozen: true,
      weekAnchor: paid.start,
    };
    expect(state({ tier: 'platinum' }, lastPaid(paid))).toMatchObject({
      ...kept,
      renewalAt: end * 1000,
    });
  });

  it.each([
    ['before the first payment, also while its invoice is a draft', 'active'],
    ['when its first payment after a trial fails', 'past_due'],
  ])('grants nothing %s, and lets the free weeks run', (_, status) => {
    const nothing = {
      tier: 'free',
      status,
      weekFrozen: false,
      weekAnchor: null,
    };
    expect(state({ status }, lastPaid(null))).toMatchObject(nothing);
  });

  it('does not keep a higher plan when a downgrade is past due', () => {
    const downgraded = state(
      { status: 'past_due', tier: 'basic' },
      lastPaid(weeksAgo(1, 'platinum')),
    );
    expect(downgraded).toMatchObject({ tier: 'basic', weekFrozen: true });
  });

  it('keeps its plan beside an add-on, whichever item Stripe lists first', () => {
    const price = {
      id: 'price_addon',
      metadata: {},
      lookup_key: null,
    };
    const items = [
      subscription().items.data[0]!,
      { price, current_period_start: 1, current_period_end: 2 },
    ];
    for (const data of [items, items.toReversed()])
      expect(state({ items: { data } })).toMatchObject({
        tier: 'premium',
        weekAnchor: startMs,
        unknownPrice: null,
      });
  });

  it.each(['unpaid', 'paused'])('that is %s falls to free', (status) => {
    expect(state({ status })).toMatchObject({
      tier: 'free',
      status: 'unpaid',
      weekAnchor: null,
    });
  });

  describe('whose collection is paused', () => {
    const pause_collection = {
      behavior: 'void',
      resumes_at: end + 3 * day,
    };
    const paused = {
      collectionPause: 'paused',
      resumesAt: (end + 3 * day) * 1000,
    };
    const lapsed = {
      tier: 'free',
      weekAnchor: null,
      weekFrozen: false,
    };

    it('keeps the paid week, whose end is no renewal that is missed', () => {
      const kept = {
        tier: 'premium',
        status: 'active',
        weekAnchor: startMs,
      };
      expect(state({ pause_collection })).toMatchObject({
        ...kept,
        ...paused,
        renewalAt: end * 1000,
      });
    });

    it('keeps the paid week while only a change within it is unpaid', () => {
      const kept = {
        tier: 'basic',
        weekAnchor: startMs,
        renewalAt: end * 1000,
      };
      const changed = state({ pause_collection, tier: 'platinum' }, lastPaid(weeksAgo(0, 'basic')));
      expect(changed).toMatchObject({ ...kept, ...paused });
    });

    it.each(['active', 'past_due'])('is free after the paid week while it is %s', (status) => {
      const expected = {
        ...lapsed,
        ...paused,
        status,
        renewalAt: null,
      };
      expect(state({ pause_collection, status }, lastPaid(weeksAgo(1)))).toMatchObject(expected);
      expect(state({ pause_collection, status }, lastPaid(null))).toMatchObject(expected);
    });

    it('is free until further notice where the pause has no end', () => {
      const endless = { behavior: 'keep_as_draft', resumes_at: null };
      expect(state({ pause_collection: endless }, lastPaid(weeksAgo(1)))).toMatchObject({
        ...lapsed,
        collectionPause: 'paused',
        resumesAt: null,
      });
    });

    it('ends with its cancellation, also without a renewal', () => {
      const cancelled = state({ pause_collection, cancel_at: end }, lastPaid(weeksAgo(1)));
      expect(cancelled).toMatchObject({
        ...lapsed,
        status: 'cancellation_scheduled',
        cancelAt: end * 1000,
      });
    });

    it.each(['paused', 'over'] as const)(
      'was %s, and is free until a week is paid',
      (heldPause) => {
        const over = {
          collectionPause: 'over',
          resumesAt: null,
          renewalAt: end * 1000,
        };
        expect(state({}, { heldPause, ...lastPaid(weeksAgo(1)) })).toMatchObject({
          ...lapsed,
          ...over,
        });
        const paid = {
          tier: 'premium',
          weekAnchor: startMs,
          collectionPause: null,
        };
        expect(state({}, { heldPause })).toMatchObject(paid);
        expect(state({}, { heldPause, ...lastPaid(weeksAgo(0)) })).toMatchObject(paid);
      },
    );
  });

  const trialEnd = start + 3 * day;

  it('waits for the end of our own trial, also once we have ended it', () => {
    const waited = { metadata: { begins: 'after_trial' } };
    const waiting = {
      ...waited,
      status: 'trialing',
      tier: 'basic',
      trial_end: trialEnd,
    };
    const waits = {
      tier: 'basic',
      status: 'trialing',
      tierWaits: true,
      endsTrial: false,
      weekAnchor: null,
    };
    for (const trialEndsAt of [trialEnd * 1000, null])
      expect(state(waiting, { trialEndsAt })).toMatchObject({
        ...waits,
        renewalAt: trialEnd * 1000,
      });
    expect(
      state({
        ...waiting,
        metadata: {},
      }),
    ).toMatchObject({
      ...waits,
      tierWaits: false,
    });
  });

  it('ends our own trial as soon as Stripe has ended it', () => {
    const waited = {
      metadata: { begins: 'after_trial' },
      trial_end: trialEnd,
    };
    const begun = state(
      { ...waited, tier: 'basic', from: trialEnd },
      { trialEndsAt: trialEnd * 1000 + 400 },
    );
    expect(begun).toMatchObject({
      tier: 'basic',
      status: 'active',
      endsTrial: true,
    });
    const endedAt = (ended_at: number) =>
      state({ ...waited, status: 'canceled', ended_at }, { trialEndsAt: trialEnd * 1000 });
    expect(endedAt(trialEnd)).toMatchObject({
      tier: 'free',
      endsTrial: true,
    });
    expect(endedAt(trialEnd - day)).toMatchObject({ endsTrial: false });
  });
});

describe('a subscription whose price has become unknown', () => {
  const unknown = (details: Details, more: Partial<Known> = {}) =>
    state({ tier: 'diamond', ...details }, { heldTier: 'basic', ...more });

  it('keeps the plan that was held, also while a payment is past due', () => {
    expect(unknown({})).toMatchObject({
      tier: 'basic',
      weekAnchor: startMs,
      unknownPrice: 'price_diamond',
    });
    expect(unknown({ status: 'past_due' }, lastPaid(weeksAgo(0, null)))).toMatchObject({
      tier: 'basic',
    });
  });

  it.each(['unpaid', 'paused', 'canceled'])('keeps no plan once it is %s', (status) => {
    expect(unknown({ status })).toMatchObject({ tier: 'free' });
  });

  it('adds nothing to another subscription that grants a plan', () => {
    expect(state([{ tier: 'diamond' }, { tier: 'basic' }], { heldTier: 'platinum' })).toMatchObject(
      { tier: 'basic' },
    );
  });
});

describe('every state', () => {
  const soldTier = ({ items }: Stripe.Subscription) => items.data[0]!.price.metadata['tier']!;
  /** Every subscription of these tests was paid for until the week before its period. */
  const paidFrom = ({ items }: Stripe.Subscription) =>
    (items.data[0]!.current_period_start - week) * 1000;

  function stateOf(all: Stripe.Subscription[], trialEndsAt: number | null = null) {
    const paidTier = (each: Stripe.Subscription) =>
      paidPlanIds.find((id) => id === soldTier(each)) ?? null;
    const paidWeeks = new Map(
      all.map((each) => [each.id, { start: paidFrom(each), tier: paidTier(each) }]),
    );
    return derive(all, { ...known, trialEndsAt, paidWeeks });
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
  const worthless = fc.oneof(
    factsOf(dead, paidPlanIds),
    factsOf(live, ['diamond', 'free', 'constructor']),
  );

  /** Subscriptions as Stripe lists them; each was made at another second. */
  const asStripe = (all: Facts[]) =>
    all.map(({ status, tier, from, cancelAfter, atPeriodEnd, next, trialEnd, waited }, index) => {
      const end = from + week;
      const phases = [
        {
          start_date: end,
          end_date: end + week,
          items: [{ price: next }],
        },
      ];
      return subscriptionFrom({
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
        schedule: next && {
          status: 'active',
          current_phase: { start_date: from, end_date: end },
          phases,
        },
      });
    });

  /** Checks a law for 500 sets of subscriptions, beside a trial of ours or without one. */
  const always = (
    law: (state: SubscriptionState, all: Stripe.Subscription[], trialEndsAt: number | null) => void,
  ) =>
    fc.assert(
      fc.property(
        fc.array(anyFacts, { maxLength: 5 }),
        fc.option(instant),
        (facts, trialEndsAt) => {
          const all = asStripe(facts);
          law(stateOf(all, trialEndsAt), all, trialEndsAt);
        },
      ),
      { numRuns: 500 },
    );

  it('grants a paid plan, or free', () => {
    always(({ tier }, all) => {
      const granting = all.filter(({ status }) =>
        ['active', 'trialing', 'past_due'].includes(status),
      );
      const sold = paidPlanIds.filter((id) => granting.some((each) => soldTier(each) === id));
      expect(['free', ...sold]).toContain(tier);
    });
  });

  it('grants nothing for an unknown status or price, or an ended subscription', () => {
    fc.assert(
      fc.property(
        fc.array(liveFacts, { maxLength: 3 }),
        fc.array(worthless, { maxLength: 3 }),
        (good, bad) => {
          const {
            hadSubscription: _,
            live: _live,
            unknownPrice: _price,
            ...expected
          } = stateOf(asStripe(good));
          expect(stateOf(asStripe([...good, ...bad]))).toMatchObject(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('does not depend on the order in which Stripe lists the subscriptions', () => {
    always((forwards, all, trialEndsAt) => {
      const { unknownPrice } = forwards;
      expect({
        ...stateOf(all.toReversed(), trialEndsAt),
        unknownPrice,
      }).toEqual(forwards);
    });
  });

  it('is not lowered by one more subscription that is paid', () => {
    const paid = factsOf(['active'], paidPlanIds);
    fc.assert(
      fc.property(fc.array(anyFacts, { maxLength: 4 }), paid, (facts, more) => {
        const before = stateOf(asStripe(facts));
        fc.pre(before.status !== 'past_due');
        const least = Math.max(plans[before.tier].level, planOf(more.tier).level);
        expect(plans[stateOf(asStripe([...facts, more])).tier].level).toBeGreaterThanOrEqual(least);
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
      if (status === 'unpaid')
        expect({
          tier,
          weekAnchor,
        }).toEqual({
          tier: 'free',
          weekAnchor: null,
        });
    });
  });

  it('announces a change to a lower plan, or at a trial to another one, and never beside a cancellation', () => {
    always(({ status, tier, scheduledTier, cancelAt }) => {
      if (status === 'downgrade_scheduled')
        expect(plans[scheduledTier!].level).toBeLessThan(plans[tier].level);
      if (scheduledTier !== null)
        expect({
          cancelAt,
          same: scheduledTier === tier,
        }).toEqual({
          cancelAt: null,
          same: false,
        });
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
      if (endsTrial)
        expect({
          trial: trialEndsAt !== null,
          begun,
        }).toEqual({
          trial: true,
          begun: true,
        });
    });
  });
});
