import { describe, expect, it } from 'vitest';
import {
  statusLine,
  type StatusFacts,
  managementButton,
  usagePercent,
  usageView,
} from '../../web/rules/account-view.ts';
import { planOf, plans, type Plan } from '../../worker/contract/plans.ts';
import type { Subscription } from '../../worker/contract/schemas.ts';
import { readUser } from '../../web/rules/user-profile.ts';
import { cancelView } from '../../web/rules/cancel-view.ts';

describe('the status of a plan', () => {
  const renewalDate = '2025-01-05T12:00:00Z';
  const cancelAtDate = '2025-02-01T12:00:00Z';
  const active = { subscriptionStatus: 'active', subscriptionTier: 'premium' };
  const none = { renewalDate: null, cancelAtDate: null, scheduledTierId: null };
  const line = (facts: Partial<StatusFacts>) => statusLine({ ...active, ...none, ...facts }, 'UTC');
  const trial = { subscriptionStatus: 'trialing' };
  const downgrade = { subscriptionStatus: 'downgrade_scheduled' };
  const cancellation = { subscriptionStatus: 'cancellation_scheduled' };
  const scheduledTierId = 'basic';

  it.each<[facts: Partial<StatusFacts>, text: string]>([
    [{ ...trial, cancelAtDate, renewalDate }, 'Trial ends on January 5, 2025'],
    [{ ...trial, renewalDate, scheduledTierId }, 'Trial ends on January 5, 2025 and will switch to Basic'],
    [{ ...trial, renewalDate, subscriptionTier: 'free' }, 'Trial ends on January 5, 2025'],
    [{ ...trial, cancelAtDate }, 'Trial status error - please refresh'],
    [{ ...trial, scheduledTierId }, 'Trial will switch to Basic (error: missing date)'],
    [
      { ...downgrade, scheduledTierId, cancelAtDate, renewalDate },
      'Downgrade scheduled. Changes to Basic on February 1, 2025',
    ],
    [{ ...downgrade, scheduledTierId, renewalDate }, 'Downgrade scheduled. Changes to Basic on January 5, 2025'],
    [{ ...downgrade, scheduledTierId }, 'Downgrade scheduled. Changes to Basic (error: missing date)'],
    [{ ...downgrade, renewalDate }, 'Please refresh to update status'],
    [{ ...cancellation, cancelAtDate }, 'Cancellation scheduled. Changes to Free on February 1, 2025'],
    [{ ...cancellation, renewalDate }, 'Cancellation scheduled. Changes to Free on January 5, 2025'],
    [cancellation, 'Cancellation scheduled. Changes to Free (error: missing date)'],
    [{ subscriptionTier: 'free' }, 'Free plan - upgrade to get full access'],
    [{ subscriptionTier: 'inactive' }, 'Free plan - upgrade to get full access'],
    [{ subscriptionTier: 'unheard-of' }, 'Free plan - upgrade to get full access'],
    [{ renewalDate }, 'Renews on January 5, 2025'],
    [{}, 'Subscription error - please refresh'],
    [{ renewalDate: 'soon' }, 'Renews on an unknown date'],
    [{ subscriptionStatus: null, renewalDate }, 'Please refresh to update status'],
    [{ subscriptionStatus: 'incomplete', renewalDate }, 'Please refresh to update status'],
  ])('of %j is “%s”', (facts, text) => {
    expect(line(facts).text).toBe(text);
  });

  it.each(['past_due', 'unpaid'])('asks for another payment method when %s', (subscriptionStatus) => {
    expect(line({ subscriptionStatus, subscriptionTier: 'free' })).toMatchObject({
      text: 'Payment Past Due',
      hint: 'Please update your payment method to reactivate.',
    });
  });
});

describe('the management button', () => {
  const cancelAtDate = '2025-01-05T00:00:00Z';
  const paid = { subscriptionTier: 'premium', subscriptionStatus: 'active', scheduledTierId: null };
  const upgrade = ['Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'];
  const cancellation = ['Manage Cancellation', 'Reactivate your subscription or change your plan'];
  const scheduled = ['Manage Scheduled Plan', 'Modify or cancel your scheduled plan'];
  const change = ['Manage Subscription', 'Update payment method, change plan, or cancel subscription'];
  const pay = ['Manage Subscription', 'View billing history and manage payment methods'];

  it.each([
    [{ subscriptionTier: 'free', cancelAtDate }, upgrade],
    [{ cancelAtDate, isTrial: true, scheduledTierId: 'basic' }, cancellation],
    [{ isTrial: true, scheduledTierId: 'basic' }, scheduled],
    [{ subscriptionStatus: 'active' }, change],
    [{ subscriptionStatus: 'trialing' }, change],
    [{ subscriptionStatus: 'downgrade_scheduled' }, change],
    [{ subscriptionStatus: 'past_due' }, pay],
    [{ subscriptionStatus: 'unpaid' }, pay],
    [{ subscriptionStatus: null }, pay],
  ])('of %j is %j', (facts, [label, hint]) => {
    expect(managementButton({ ...paid, cancelAtDate: null, isTrial: false, ...facts })).toEqual({ label, hint });
  });
});

describe('the usage of a week', () => {
  const free = {
    label: 'Messages used this week:',
    used: 2,
    limit: 5,
    percent: 40,
    note: 'Upgrade for more messages.',
  };
  const noLimit = { limit: null, note: 'Usage tracking not applicable for this plan.' };
  const unnumbered = { limit: 160, percent: 10, note: '160 messages per week on this plan.' };

  it.each<[what: string, plan: Plan, used: number, view: object]>([
    ['the free plan', plans.free, 2, free],
    ['an inactive one', planOf('inactive'), 2, free],
    ['none', planOf(null), 2, free],
    ['Basic', plans.basic, 10, { limit: 30, note: null }],
    ['Premium', plans.premium, 10, { limit: 70, note: null }],
    ['Platinum', plans.platinum, 10, { limit: 160, note: null }],
    ['a plan by the month', { ...plans.basic, periodDescription: 'month' }, 1, { label: 'Messages used this month:' }],
    ['Platinum without a number', { ...plans.platinum, messageLimit: null }, 16, unnumbered],
    ['a plan without a number', { ...plans.basic, messageLimit: null }, 3, noLimit],
    ['a plan without a limit', { ...plans.basic, messageLimit: -1 }, 3, noLimit],
  ])('is shown for %s', (_, plan, used, view) => {
    expect(usageView(plan, used)).toMatchObject(view);
  });

  it.each([
    [1, 3, 33],
    [2, 3, 67],
    [0, 5, 0],
    [9, 5, 100],
    [0, 0, 100],
  ])('of %i of %i messages is %i %', (used, limit, percent) => {
    expect(usagePercent(used, limit)).toBe(percent);
  });
});

describe('a profile', () => {
  it('fills in what a profile leaves out', () => {
    expect(readUser({})).toEqual({
      phoneNumber: null,
      status: null,
      isTrial: false,
      messagesUsedThisPeriod: 0,
      metadata: {
        subscriptionTier: 'free',
        messagesUsedThisPeriod: 0,
        subscriptionStatus: null,
        renewalDate: null,
        cancelAtDate: null,
        scheduledDowngradeTierId: null,
      },
    });
  });

  it('takes the count from the metadata when the profile has none', () => {
    const metadata = { messagesUsedThisPeriod: 3 };
    expect(readUser({ metadata }).messagesUsedThisPeriod).toBe(3);
    expect(readUser({ messagesUsedThisPeriod: 4, metadata }).metadata.messagesUsedThisPeriod).toBe(4);
  });
});

type Facts = {
  tier?: string;
  subscriptionStatus?: string;
  cancelAtDate?: string;
  scheduled?: string;
  isTrial?: boolean;
  hidden?: Partial<Subscription> | null | 'loading' | 'unknown';
};

const end = '2026-12-01T09:00:00.000Z';
const running: Subscription = {
  tier: 'basic',
  status: 'active',
  startDate: null,
  renewalDate: '2026-12-03T09:00:00.000Z',
  cancelAtDate: null,
};

function viewOf({ tier = 'premium', scheduled, hidden = 'loading', isTrial = false, ...facts }: Facts) {
  const metadata = { subscriptionTier: tier, renewalDate: end, scheduledDowngradeTierId: scheduled, ...facts };
  const user = readUser({ isTrial, metadata } as never);
  if (hidden === null || typeof hidden === 'string') return cancelView(user, hidden, 'UTC');
  return cancelView(user, { ...running, ...hidden }, 'UTC');
}

const rows: [string, Facts, string | null, 'cancel' | 'resume' | null][] = [
  [
    'a paid week',
    { subscriptionStatus: 'active' },
    'If you cancel, Premium stays until December 1, 2026, and nothing is charged after that.',
    'cancel',
  ],
  [
    'a scheduled downgrade',
    { subscriptionStatus: 'downgrade_scheduled', scheduled: 'basic' },
    'If you cancel, Premium stays until December 1, 2026. The change to Basic does not take place, and nothing is charged after that.',
    'cancel',
  ],
  [
    'a trial with another plan behind it',
    { subscriptionStatus: 'trialing', isTrial: true, scheduled: 'basic', hidden: { startDate: end } },
    'Your trial stays until December 1, 2026. If you cancel, the paid Basic plan does not begin after it, and nothing is charged.',
    'cancel',
  ],
  [
    'a trial with the same plan behind it',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: { tier: 'premium', startDate: end } },
    'Your trial stays until December 1, 2026. If you cancel, the paid Premium plan does not begin after it, and nothing is charged.',
    'cancel',
  ],
  [
    'a trial alone',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: null },
    'Your trial ends by itself on December 1, 2026 and charges nothing. You have no subscription, so there is nothing to cancel.',
    null,
  ],
  [
    'a trial beside a paid plan',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: {} },
    'Your trial stays until December 1, 2026. If you cancel, Basic stays until December 3, 2026, and nothing is charged after that.',
    'cancel',
  ],
  [
    'a trial beside an overdue payment',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: { status: 'past_due' } },
    'Your trial stays until December 1, 2026. Your last payment for Basic did not go through. If you cancel, we stop asking for it, and nothing is charged.',
    'cancel',
  ],
  [
    'a trial, while the subscription is fetched',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: 'loading' },
    null,
    null,
  ],
  [
    'a trial whose subscription could not be fetched',
    { subscriptionStatus: 'trialing', isTrial: true, hidden: 'unknown' },
    'Your trial ends by itself on December 1, 2026 and charges nothing. If you have chosen a plan beside it or to follow it, you can cancel that plan here.',
    'cancel',
  ],
  [
    'an overdue payment',
    { subscriptionStatus: 'past_due' },
    'Your last payment did not go through. If you cancel, we stop asking for it: what is left of your paid week stays until December 1, 2026, and nothing is charged after that.',
    'cancel',
  ],
  [
    'an overdue first payment',
    { subscriptionStatus: 'past_due', tier: 'free' },
    'Your last payment did not go through, and you have the Free plan. If you cancel, we stop asking for it, and nothing is charged.',
    'cancel',
  ],
  [
    'an unpaid subscription',
    { subscriptionStatus: 'unpaid', tier: 'free' },
    'Your last payment did not go through, and you have the Free plan. If you cancel, we stop asking for it, and nothing is charged.',
    'cancel',
  ],
  [
    'the free plan',
    { subscriptionStatus: 'active', tier: 'free' },
    'You have no subscription, so there is nothing to cancel and nothing is charged.',
    null,
  ],
  [
    'a cancellation',
    { subscriptionStatus: 'cancellation_scheduled', cancelAtDate: end },
    'Your subscription is cancelled. Premium stays until December 1, 2026, and nothing is charged after that.',
    'resume',
  ],
  [
    'a cancellation during a trial',
    {
      subscriptionStatus: 'cancellation_scheduled',
      cancelAtDate: end,
      isTrial: true,
      hidden: { startDate: end, cancelAtDate: end },
    },
    'Your subscription is cancelled. Your trial stays until December 1, 2026, no plan follows it, and nothing is charged.',
    'resume',
  ],
  [
    'a cancellation of what is overdue',
    { subscriptionStatus: 'past_due', cancelAtDate: end },
    'Your subscription is cancelled. Premium stays until December 1, 2026, and nothing is charged after that.',
    'resume',
  ],
  [
    'a cancellation of what was never paid',
    { subscriptionStatus: 'unpaid', tier: 'free', cancelAtDate: end },
    'Your subscription is cancelled. It ends on December 1, 2026, and nothing more is charged.',
    'resume',
  ],
];

it.each(rows)('says what one has until when: %s', (_, facts, text, action) => {
  expect(viewOf(facts)).toMatchObject({ text, action });
});

it('names the end of a cancelled plan that a trial hides', () => {
  const hidden = { cancelAtDate: '2026-12-03T09:00:00.000Z' };
  expect(viewOf({ subscriptionStatus: 'trialing', isTrial: true, hidden })).toEqual({
    plan: 'Your plan: Premium (Free Trial)',
    text: 'Your subscription is cancelled. Your trial stays until December 1, 2026 and Basic until December 3, 2026, and nothing is charged after that.',
    action: 'resume',
  });
});
