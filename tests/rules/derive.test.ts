import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { derive, plannedPrice } from '../../worker/billing/derive.ts';
import type { PaidWeek } from '../../worker/billing/invoices.ts';
import type { PaidPlanId, PlanId } from '../../worker/contract/plans.ts';

const day = 86_400;
const start = Date.UTC(2026, 10, 2) / 1000;
const end = start + 7 * day;
const prices = new Map<string, PaidPlanId | null>([
  ['price_basic', 'basic'],
  ['price_premium', 'premium'],
  ['price_platinum', 'platinum'],
  ['price_unknown', null],
]);

type Details = Partial<Stripe.Subscription> & { tier?: string; lookupKey?: string; from?: number };

function subscription({ tier = 'premium', lookupKey, from = start, ...details }: Details = {}): Stripe.Subscription {
  const price = { id: `price_${tier}`, metadata: lookupKey ? {} : { tier }, lookup_key: lookupKey ?? null };
  const item = { price, current_period_start: from, current_period_end: from + 7 * day };
  return {
    id: 'sub_1',
    status: 'active',
    created: from,
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    trial_end: null,
    schedule: null,
    metadata: {},
    items: { data: [item] },
    ...details,
  } as unknown as Stripe.Subscription;
}

function schedule(next: string | null, status = 'active'): Stripe.SubscriptionSchedule {
  const phases = [{ start_date: start, end_date: end, items: [{ price: 'price_premium' }] }];
  if (next) phases.push({ start_date: end, end_date: end + 7 * day, items: [{ price: next }] });
  return {
    status,
    current_phase: { start_date: start, end_date: end },
    phases,
  } as unknown as Stripe.SubscriptionSchedule;
}

const known = { trialEndsAt: null, heldTier: 'free' as PlanId, prices, paidWeeks: new Map<string, PaidWeek | null>() };

const state = (subscriptions: Stripe.Subscription[], trialEndsAt: number | null = null) =>
  derive(subscriptions, { ...known, trialEndsAt });

/** The state while a payment is past due, after a last paid week. */
const pastDue = (details: Details, paid: PaidWeek | null) =>
  derive([subscription({ status: 'past_due', ...details })], { ...known, paidWeeks: new Map([['sub_1', paid]]) });

describe('a user without a live subscription', () => {
  it.each([[[]], [['canceled']], [['incomplete']], [['incomplete_expired']], [['a status of next year']]])(
    '%j is free and active',
    (statuses) => {
      const ended = statuses.map((status) => subscription({ status: status as 'canceled' }));
      expect(state(ended)).toMatchObject({ tier: 'free', status: 'active', renewalAt: null, weekAnchor: null });
    },
  );

  it('is granted nothing by an unknown price, which is reported', () => {
    const unknown = { tier: 'free', weekAnchor: null, live: true, unknownPrice: 'price_diamond' };
    expect(state([subscription({ tier: 'diamond' })])).toMatchObject(unknown);
  });
});

describe('a subscription', () => {
  it('that is active renews at the end of its paid week', () => {
    expect(state([subscription()])).toEqual({
      tier: 'premium',
      status: 'active',
      renewalAt: end * 1000,
      cancelAt: null,
      scheduledTier: null,
      weekAnchor: start * 1000,
      weekFrozen: true,
      tierWaits: false,
      endsTrial: false,
      hadSubscription: true,
      live: true,
      doubled: false,
      unknownPrice: null,
    });
  });

  it('takes its plan from the lookup key where the price says nothing itself', () => {
    expect(state([subscription({ lookupKey: 'basic_weekly' })])).toMatchObject({ tier: 'basic' });
  });

  it('is cancelled at its cancel date, and at the end of the week by the older field', () => {
    const dated = state([subscription({ cancel_at: end })]);
    const flagged = state([subscription({ cancel_at_period_end: true })]);
    for (const each of [dated, flagged]) {
      expect(each).toMatchObject({ tier: 'premium', status: 'cancellation_scheduled', cancelAt: end * 1000 });
    }
  });

  it('goes down at the end of the week when its schedule says so', () => {
    const lower = state([subscription({ schedule: schedule('price_basic') })]);
    expect(lower).toMatchObject({ tier: 'premium', status: 'downgrade_scheduled', scheduledTier: 'basic' });
  });

  it.each([
    ['the same plan', 'price_premium', 'active'],
    ['a dearer plan', 'price_platinum', 'active'],
    ['an unknown price', 'price_unknown', 'active'],
    ['nothing', null, 'active'],
    ['a lower plan, but was released', 'price_basic', 'released'],
  ])('whose schedule leads to %s is just active', (_, next, status) => {
    expect(state([subscription({ schedule: schedule(next, status) })])).toMatchObject({
      status: 'active',
      scheduledTier: null,
    });
  });

  it('hides a planned plan behind a cancel date', () => {
    const both = state([subscription({ cancel_at: end, schedule: schedule('price_basic') })]);
    expect(both).toMatchObject({ status: 'cancellation_scheduled', scheduledTier: null });
  });

  it('keeps plan and week of the last paid invoice while a payment is past due', () => {
    const paid = { start: (start - 21 * day) * 1000, tier: 'premium' as const };
    expect(pastDue({}, paid)).toMatchObject({
      tier: 'premium',
      status: 'past_due',
      weekFrozen: true,
      weekAnchor: paid.start,
    });
  });

  it('keeps plan and week of the last paid invoice until the renewal is paid', () => {
    const paid = { start: (start - 7 * day) * 1000, tier: 'premium' as const };
    const renewed = derive([subscription({ tier: 'platinum' })], { ...known, paidWeeks: new Map([['sub_1', paid]]) });
    expect(renewed).toMatchObject({
      tier: 'premium',
      status: 'active',
      weekFrozen: true,
      weekAnchor: paid.start,
      renewalAt: end * 1000,
    });
  });

  it('grants nothing before the first payment, also while its invoice is a draft', () => {
    const unpaid = derive([subscription()], { ...known, paidWeeks: new Map([['sub_1', null]]) });
    expect(unpaid).toMatchObject({ tier: 'free', status: 'active', weekFrozen: false, weekAnchor: null });
  });

  it('does not grant an upgrade whose proration failed: the paid plan and the paid week stay', () => {
    const paid = { start: start * 1000, tier: 'basic' as const };
    expect(pastDue({ tier: 'platinum' }, paid)).toMatchObject({ tier: 'basic', weekAnchor: start * 1000 });
  });

  it('does not keep a higher plan when a downgrade is past due', () => {
    const paid = { start: (start - 7 * day) * 1000, tier: 'platinum' as const };
    expect(pastDue({ tier: 'basic' }, paid)).toMatchObject({ tier: 'basic', weekFrozen: true });
  });

  it('leaves the free plan and its running weeks when its first payment after a trial fails', () => {
    expect(pastDue({}, null)).toMatchObject({ tier: 'free', status: 'past_due', weekFrozen: false, weekAnchor: null });
  });

  it('keeps its plan beside an add-on, whichever item Stripe lists first', () => {
    const addOn = {
      price: { id: 'price_addon', metadata: {}, lookup_key: null },
      current_period_start: 1,
      current_period_end: 2,
    };
    const plan = subscription().items.data[0]!;
    for (const data of [
      [plan, addOn],
      [addOn, plan],
    ]) {
      const both = subscription({ items: { data } as never });
      expect(state([both])).toMatchObject({ tier: 'premium', weekAnchor: start * 1000, unknownPrice: null });
    }
  });

  it.each(['unpaid', 'paused'] as const)('that is %s falls to free', (status) => {
    expect(state([subscription({ status })])).toMatchObject({ tier: 'free', status: 'unpaid', weekAnchor: null });
  });

  it('waits for the end of our own trial', () => {
    const trialEnd = start + 3 * day;
    const waiting = subscription({ status: 'trialing', tier: 'basic', trial_end: trialEnd });
    expect(state([waiting], trialEnd * 1000)).toMatchObject({
      tier: 'basic',
      status: 'trialing',
      tierWaits: true,
      endsTrial: false,
      renewalAt: trialEnd * 1000,
      weekAnchor: null,
    });
  });

  it('ends our own trial as soon as Stripe has ended it', () => {
    const trialEnd = start + 3 * day;
    const metadata = { begins: 'after_trial' };
    const begun = subscription({ metadata, tier: 'basic', trial_end: trialEnd, from: trialEnd });
    expect(state([begun], trialEnd * 1000 + 400)).toMatchObject({
      tier: 'basic',
      status: 'active',
      endsTrial: true,
    });
    const ended = subscription({ metadata, status: 'canceled', trial_end: trialEnd, ended_at: trialEnd });
    expect(state([ended], trialEnd * 1000)).toMatchObject({ tier: 'free', endsTrial: true });
    const cancelledBefore = subscription({
      metadata,
      status: 'canceled',
      trial_end: trialEnd,
      ended_at: trialEnd - day,
    });
    expect(state([cancelledBefore], trialEnd * 1000)).toMatchObject({ endsTrial: false });
  });
});

describe('a subscription whose price has become unknown', () => {
  const unknown = (details: Details) =>
    derive([subscription({ tier: 'diamond', ...details })], { ...known, heldTier: 'basic' });

  it('keeps the plan that was held', () => {
    expect(unknown({})).toMatchObject({ tier: 'basic', weekAnchor: start * 1000, unknownPrice: 'price_diamond' });
  });

  it('keeps it while a payment is past due', () => {
    const paidWeeks = new Map([['sub_1', { start: start * 1000, tier: null }]]);
    const pastDueAtUnknownPrice = subscription({ tier: 'diamond', status: 'past_due' });
    expect(derive([pastDueAtUnknownPrice], { ...known, heldTier: 'basic', paidWeeks })).toMatchObject({
      tier: 'basic',
    });
  });

  it('keeps no plan once it is unpaid or has ended', () => {
    for (const status of ['unpaid', 'paused', 'canceled'] as const) {
      expect(unknown({ status })).toMatchObject({ tier: 'free' });
    }
  });

  it('adds nothing to another subscription that grants a plan', () => {
    const all = [subscription({ tier: 'diamond' }), subscription({ tier: 'basic' })];
    expect(derive(all, { ...known, heldTier: 'platinum' })).toMatchObject({ tier: 'basic' });
  });
});

describe('several subscriptions', () => {
  it('count by the best: a good status first, then the plan, then the newest', () => {
    const unpaid = subscription({ status: 'unpaid', tier: 'platinum' });
    const basic = subscription({ tier: 'basic' });
    const premium = subscription({ tier: 'premium' });
    expect(state([unpaid, basic, premium])).toMatchObject({ tier: 'premium', doubled: true });
    expect(state([premium, subscription({ status: 'canceled' })])).toMatchObject({ doubled: false });
  });
});

it('reads the planned price whether it is expanded or not', () => {
  expect(plannedPrice(subscription({ schedule: schedule('price_basic') }))).toBe('price_basic');
  expect(plannedPrice(subscription())).toBeNull();
});
