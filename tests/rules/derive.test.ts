import { describe, expect, it } from 'vitest';
import { derive, type Known } from '../../worker/billing/derive.ts';
import type { PaidWeek } from '../../worker/billing/invoices.ts';
import { hour, prices, subscription as subscriptionFrom, week, type Details } from './models.ts';

const day = 24 * hour;
const start = Date.UTC(2026, 10, 2) / 1000;
const end = start + week;
const startMs = start * 1000;

const subscription = (details: Details = {}) => subscriptionFrom({ from: start, ...details });

function schedule(next: string | null, status = 'active') {
  const phases = [{ start_date: start, end_date: end, items: [{ price: 'price_premium' }] }];
  if (next) phases.push({ start_date: end, end_date: end + week, items: [{ price: next }] });
  return { status, current_phase: { start_date: start, end_date: end }, phases };
}

const known: Known = { trialEndsAt: null, heldTier: 'free', prices, paidWeeks: new Map() };

const state = (details: Details | Details[], more: Partial<Known> = {}) =>
  derive([details].flat().map(subscription), { ...known, ...more });

/** What is known while the present period is not paid, after a last paid week. */
const lastPaid = (paid: PaidWeek | null) => ({ paidWeeks: new Map([['sub_1', paid]]) });
const weeksAgo = (weeks: number, tier: PaidWeek['tier'] = 'premium') => ({
  start: (start - weeks * week) * 1000,
  tier,
});

it('a user without a live subscription is free and active', () => {
  expect(state([])).toMatchObject({ tier: 'free', status: 'active', renewalAt: null, weekAnchor: null });
});

describe('a subscription', () => {
  it('that is active renews at the end of its paid week', () => {
    expect(state({})).toEqual({
      tier: 'premium',
      status: 'active',
      renewalAt: end * 1000,
      cancelAt: null,
      scheduledTier: null,
      weekAnchor: startMs,
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
    expect(state({ lookupKey: 'basic_weekly' })).toMatchObject({ tier: 'basic' });
  });

  it('is cancelled at its cancel date, and at the end of the week by the older field', () => {
    const cancelled = { tier: 'premium', status: 'cancellation_scheduled', cancelAt: end * 1000 };
    expect(state({ cancel_at: end })).toMatchObject(cancelled);
    expect(state({ cancel_at_period_end: true })).toMatchObject(cancelled);
  });

  it('goes down at the end of the week when its schedule says so, unless it is cancelled', () => {
    const lower = { schedule: schedule('price_basic') };
    const announced = { tier: 'premium', status: 'downgrade_scheduled', scheduledTier: 'basic' };
    expect(state(lower)).toMatchObject(announced);
    const cancelled = { status: 'cancellation_scheduled', scheduledTier: null };
    expect(state({ ...lower, cancel_at: end })).toMatchObject(cancelled);
  });

  it.each([
    ['the same plan', 'price_premium', 'active'],
    ['a dearer plan', 'price_platinum', 'active'],
    ['an unknown price', 'price_unknown', 'active'],
    ['nothing', null, 'active'],
    ['a lower plan, but was released', 'price_basic', 'released'],
  ])('whose schedule leads to %s is just active', (_, next, status) => {
    expect(state({ schedule: schedule(next, status) })).toMatchObject({ status: 'active', scheduledTier: null });
  });

  it('keeps plan and week of the last paid invoice until the renewal is paid', () => {
    const paid = weeksAgo(1);
    const kept = { tier: 'premium', status: 'active', weekFrozen: true, weekAnchor: paid.start };
    expect(state({ tier: 'platinum' }, lastPaid(paid))).toMatchObject({ ...kept, renewalAt: end * 1000 });
  });

  it.each([
    ['before the first payment, also while its invoice is a draft', 'active'],
    ['when its first payment after a trial fails', 'past_due'],
  ])('grants nothing %s, and lets the free weeks run', (_, status) => {
    const nothing = { tier: 'free', status, weekFrozen: false, weekAnchor: null };
    expect(state({ status }, lastPaid(null))).toMatchObject(nothing);
  });

  it('does not keep a higher plan when a downgrade is past due', () => {
    const downgraded = state({ status: 'past_due', tier: 'basic' }, lastPaid(weeksAgo(1, 'platinum')));
    expect(downgraded).toMatchObject({ tier: 'basic', weekFrozen: true });
  });

  it('keeps its plan beside an add-on, whichever item Stripe lists first', () => {
    const price = { id: 'price_addon', metadata: {}, lookup_key: null };
    const items = [subscription().items.data[0]!, { price, current_period_start: 1, current_period_end: 2 }];
    for (const data of [items, items.toReversed()])
      expect(state({ items: { data } })).toMatchObject({ tier: 'premium', weekAnchor: startMs, unknownPrice: null });
  });

  it.each(['unpaid', 'paused'])('that is %s falls to free', (status) => {
    expect(state({ status })).toMatchObject({ tier: 'free', status: 'unpaid', weekAnchor: null });
  });

  const trialEnd = start + 3 * day;

  it('waits for the end of our own trial', () => {
    const waiting = { status: 'trialing', tier: 'basic', trial_end: trialEnd };
    const waits = { tier: 'basic', status: 'trialing', tierWaits: true, endsTrial: false, weekAnchor: null };
    expect(state(waiting, { trialEndsAt: trialEnd * 1000 })).toMatchObject({ ...waits, renewalAt: trialEnd * 1000 });
  });

  it('ends our own trial as soon as Stripe has ended it', () => {
    const waited = { metadata: { begins: 'after_trial' }, trial_end: trialEnd };
    const begun = state({ ...waited, tier: 'basic', from: trialEnd }, { trialEndsAt: trialEnd * 1000 + 400 });
    expect(begun).toMatchObject({ tier: 'basic', status: 'active', endsTrial: true });
    const endedAt = (ended_at: number) =>
      state({ ...waited, status: 'canceled', ended_at }, { trialEndsAt: trialEnd * 1000 });
    expect(endedAt(trialEnd)).toMatchObject({ tier: 'free', endsTrial: true });
    expect(endedAt(trialEnd - day)).toMatchObject({ endsTrial: false });
  });
});

describe('a subscription whose price has become unknown', () => {
  const unknown = (details: Details, more: Partial<Known> = {}) =>
    state({ tier: 'diamond', ...details }, { heldTier: 'basic', ...more });

  it('keeps the plan that was held, also while a payment is past due', () => {
    expect(unknown({})).toMatchObject({ tier: 'basic', weekAnchor: startMs, unknownPrice: 'price_diamond' });
    expect(unknown({ status: 'past_due' }, lastPaid(weeksAgo(0, null)))).toMatchObject({ tier: 'basic' });
  });

  it.each(['unpaid', 'paused', 'canceled'])('keeps no plan once it is %s', (status) => {
    expect(unknown({ status })).toMatchObject({ tier: 'free' });
  });

  it('adds nothing to another subscription that grants a plan', () => {
    expect(state([{ tier: 'diamond' }, { tier: 'basic' }], { heldTier: 'platinum' })).toMatchObject({ tier: 'basic' });
  });
});

it('counts the best of several subscriptions: a good status first, then the plan, then the newest', () => {
  const all = [{ status: 'unpaid', tier: 'platinum' }, { tier: 'basic' }, { tier: 'premium' }];
  expect(state(all)).toMatchObject({ tier: 'premium', doubled: true });
  expect(state([{ tier: 'premium' }, { status: 'canceled' }])).toMatchObject({ doubled: false });
});
