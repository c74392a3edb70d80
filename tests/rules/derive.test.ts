import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { derive, plannedPrice } from '../../worker/billing/derive.ts';
import type { PaidPlanId } from '../../worker/contract/plans.ts';

const day = 86_400;
const start = Date.UTC(2026, 10, 2) / 1000;
const end = start + 7 * day;
const planned = new Map<string, PaidPlanId | null>([
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

const standing = (subscriptions: Stripe.Subscription[], trialEndsAt: number | null = null) =>
  derive(subscriptions, { trialEndsAt, planned });

describe('somebody without a live subscription', () => {
  it.each([[[]], [['canceled']], [['incomplete']], [['incomplete_expired']], [['a status of next year']]])(
    '%j is free and active',
    (statuses) => {
      const ended = statuses.map((status) => subscription({ status: status as 'canceled' }));
      expect(standing(ended)).toMatchObject({ tier: 'free', status: 'active', renewalAt: null, weekAnchor: null });
    },
  );

  it('is granted nothing by a price that nobody knows', () => {
    expect(standing([subscription({ tier: 'diamond' })])).toMatchObject({ tier: 'free', weekAnchor: null });
  });
});

describe('a subscription', () => {
  it('that is active renews at the end of its paid week', () => {
    expect(standing([subscription()])).toEqual({
      tier: 'premium',
      status: 'active',
      renewalAt: end * 1000,
      cancelAt: null,
      scheduledTier: null,
      weekAnchor: start * 1000,
      weekFrozen: false,
      tierWaits: false,
      endsTrial: false,
      hadSubscription: true,
      doubled: false,
    });
  });

  it('takes its plan from the lookup key where the price says nothing itself', () => {
    expect(standing([subscription({ lookupKey: 'basic_weekly' })])).toMatchObject({ tier: 'basic' });
  });

  it('is cancelled at its cancel date, and at the end of the week by the older field', () => {
    const dated = standing([subscription({ cancel_at: end })]);
    const flagged = standing([subscription({ cancel_at_period_end: true })]);
    for (const each of [dated, flagged]) {
      expect(each).toMatchObject({ tier: 'premium', status: 'cancellation_scheduled', cancelAt: end * 1000 });
    }
  });

  it('goes down at the end of the week when its schedule says so', () => {
    const lower = standing([subscription({ schedule: schedule('price_basic') })]);
    expect(lower).toMatchObject({ tier: 'premium', status: 'downgrade_scheduled', scheduledTier: 'basic' });
  });

  it.each([
    ['the same plan', 'price_premium', 'active'],
    ['a dearer plan', 'price_platinum', 'active'],
    ['an unknown price', 'price_unknown', 'active'],
    ['nothing', null, 'active'],
    ['a lower plan, but was released', 'price_basic', 'released'],
  ])('whose schedule leads to %s is just active', (_, next, status) => {
    expect(standing([subscription({ schedule: schedule(next, status) })])).toMatchObject({
      status: 'active',
      scheduledTier: null,
    });
  });

  it('hides a planned plan behind a cancel date', () => {
    const both = standing([subscription({ cancel_at: end, schedule: schedule('price_basic') })]);
    expect(both).toMatchObject({ status: 'cancellation_scheduled', scheduledTier: null });
  });

  it('keeps its plan while a payment is retried, in the week that was paid last', () => {
    expect(standing([subscription({ status: 'past_due' })])).toMatchObject({
      tier: 'premium',
      status: 'past_due',
      weekFrozen: true,
      weekAnchor: (start - 7 * day) * 1000,
    });
  });

  it.each(['unpaid', 'paused'] as const)('that is %s falls to free', (status) => {
    expect(standing([subscription({ status })])).toMatchObject({ tier: 'free', status: 'unpaid', weekAnchor: null });
  });

  it('waits for the end of our own trial', () => {
    const trialEnd = start + 3 * day;
    const waiting = subscription({ status: 'trialing', tier: 'basic', trial_end: trialEnd });
    expect(standing([waiting], trialEnd * 1000)).toMatchObject({
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
    expect(standing([begun], trialEnd * 1000 + 400)).toMatchObject({
      tier: 'basic',
      status: 'active',
      endsTrial: true,
    });
    const ended = subscription({ metadata, status: 'canceled', trial_end: trialEnd, ended_at: trialEnd });
    expect(standing([ended], trialEnd * 1000)).toMatchObject({ tier: 'free', endsTrial: true });
    const cancelledBefore = subscription({
      metadata,
      status: 'canceled',
      trial_end: trialEnd,
      ended_at: trialEnd - day,
    });
    expect(standing([cancelledBefore], trialEnd * 1000)).toMatchObject({ endsTrial: false });
  });
});

describe('several subscriptions', () => {
  it('count by the best: a good status first, then the plan, then the newest', () => {
    const pastDue = subscription({ status: 'past_due', tier: 'platinum' });
    const basic = subscription({ tier: 'basic' });
    const premium = subscription({ tier: 'premium' });
    expect(standing([pastDue, basic, premium])).toMatchObject({ tier: 'premium', doubled: true });
    expect(standing([pastDue, subscription({ status: 'canceled' })])).toMatchObject({
      tier: 'platinum',
      doubled: false,
    });
  });
});

it('reads the planned price whether it is expanded or not', () => {
  expect(plannedPrice(subscription({ schedule: schedule('price_basic') }))).toBe('price_basic');
  expect(plannedPrice(subscription())).toBeNull();
});
