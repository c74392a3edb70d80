import { describe, expect, it } from 'vitest';
import {
  statusLine,
  type StatusFacts,
  managementButton,
  usagePercent,
  usageView,
} from '../../web/rules/account-view.ts';
import { planOf, plans } from '../../worker/contract/plans.ts';
import type { Subscription } from '../../worker/contract/schemas.ts';
import { readUser } from '../../web/rules/user-profile.ts';
import { cancelView } from '../../web/rules/cancel-view.ts';

describe('the status of a plan', () => {
  const soon = '2025-01-05T12:00:00Z';
  const later = '2025-02-01T12:00:00Z';

  const line = (facts: Partial<StatusFacts>) =>
    statusLine(
      {
        subscriptionStatus: 'active',
        subscriptionTier: 'premium',
        renewalDate: null,
        cancelAtDate: null,
        scheduledTierId: null,
        ...facts,
      },
      'UTC',
    );
  const text = (facts: Partial<StatusFacts>) => line(facts).text;

  describe('the status line', () => {
    it('shows a trial first', () => {
      const trial = { subscriptionStatus: 'trialing', cancelAtDate: later };
      expect(text({ ...trial, renewalDate: soon })).toBe('Trial ends on January 5, 2025');
      expect(text({ ...trial, renewalDate: soon, scheduledTierId: 'basic' })).toBe(
        'Trial ends on January 5, 2025 and will switch to Basic',
      );
      expect(text({ ...trial, renewalDate: soon, subscriptionTier: 'free' })).toBe('Trial ends on January 5, 2025');
      expect(text(trial)).toBe('Trial status error - please refresh');
      expect(text({ ...trial, scheduledTierId: 'basic' })).toBe('Trial will switch to Basic (error: missing date)');
    });

    it('shows a scheduled downgrade with the cancel date, else the renewal date', () => {
      const downgrade = { subscriptionStatus: 'downgrade_scheduled', scheduledTierId: 'basic' };
      expect(text({ ...downgrade, cancelAtDate: later, renewalDate: soon })).toBe(
        'Downgrade scheduled. Changes to Basic on February 1, 2025',
      );
      expect(text({ ...downgrade, renewalDate: soon })).toBe(
        'Downgrade scheduled. Changes to Basic on January 5, 2025',
      );
      expect(text(downgrade)).toBe('Downgrade scheduled. Changes to Basic (error: missing date)');
    });

    it('shows no status for a downgrade without a plan', () => {
      expect(text({ subscriptionStatus: 'downgrade_scheduled', renewalDate: soon })).toBe(
        'Please refresh to update status',
      );
    });

    it('shows a scheduled cancellation', () => {
      const cancellation = { subscriptionStatus: 'cancellation_scheduled' };
      expect(text({ ...cancellation, cancelAtDate: later })).toBe(
        'Cancellation scheduled. Changes to Free on February 1, 2025',
      );
      expect(text({ ...cancellation, renewalDate: soon })).toBe(
        'Cancellation scheduled. Changes to Free on January 5, 2025',
      );
      expect(text(cancellation)).toBe('Cancellation scheduled. Changes to Free (error: missing date)');
    });

    it.each(['past_due', 'unpaid'])('asks for another payment method when %s', (subscriptionStatus) => {
      expect(line({ subscriptionStatus, subscriptionTier: 'free' })).toMatchObject({
        text: 'Payment Past Due',
        hint: 'Please update your payment method to reactivate.',
      });
    });

    it.each(['free', 'inactive', 'unheard-of'])('calls the tier %s free', (subscriptionTier) => {
      expect(text({ subscriptionTier })).toBe('Free plan - upgrade to get full access');
    });

    it('shows the renewal of a paid plan', () => {
      expect(text({ renewalDate: soon })).toBe('Renews on January 5, 2025');
      expect(text({})).toBe('Subscription error - please refresh');
      expect(text({ renewalDate: 'soon' })).toBe('Renews on an unknown date');
    });

    it.each([null, 'incomplete'])('asks to refresh when the status is %s', (subscriptionStatus) => {
      expect(text({ subscriptionStatus, renewalDate: soon })).toBe('Please refresh to update status');
    });
  });
});

describe('the management button', () => {
  const paid = {
    subscriptionTier: 'premium',
    subscriptionStatus: 'active',
    cancelAtDate: null,
    isTrial: false,
    scheduledTierId: null,
  };

  it('offers the free tier an upgrade', () => {
    expect(managementButton({ ...paid, subscriptionTier: 'free', cancelAtDate: '2025-01-05T00:00:00Z' })).toEqual({
      label: 'Upgrade Your Plan',
      hint: 'Access our plans and upgrade to unlock more features',
    });
  });

  it('manages a cancellation once there is a date for it', () => {
    expect(
      managementButton({ ...paid, cancelAtDate: '2025-01-05T00:00:00Z', isTrial: true, scheduledTierId: 'basic' }),
    ).toEqual({
      label: 'Manage Cancellation',
      hint: 'Reactivate your subscription or change your plan',
    });
  });

  it('manages the plan that follows a trial', () => {
    expect(managementButton({ ...paid, isTrial: true, scheduledTierId: 'basic' })).toEqual({
      label: 'Manage Scheduled Plan',
      hint: 'Modify or cancel your scheduled plan',
    });
  });

  it.each([
    ['active', 'Update payment method, change plan, or cancel subscription'],
    ['trialing', 'Update payment method, change plan, or cancel subscription'],
    ['downgrade_scheduled', 'Update payment method, change plan, or cancel subscription'],
    ['past_due', 'View billing history and manage payment methods'],
    ['unpaid', 'View billing history and manage payment methods'],
    [null, 'View billing history and manage payment methods'],
  ])('manages a subscription that is %s', (subscriptionStatus, hint) => {
    expect(managementButton({ ...paid, subscriptionStatus })).toEqual({ label: 'Manage Subscription', hint });
  });
});

describe('the usage of a week', () => {
  describe('the usage card', () => {
    it.each(['free', 'inactive', null])('shows the tier %s the free limit', (tier) => {
      expect(usageView(planOf(tier), 2)).toEqual({
        label: 'Messages used this week:',
        used: 2,
        limit: 5,
        percent: 40,
        note: 'Upgrade for more messages.',
      });
    });

    it.each([
      ['basic', 30],
      ['premium', 70],
      ['platinum', 160],
    ])('shows %s its limit of %i', (tier, limit) => {
      expect(usageView(planOf(tier), 10)).toMatchObject({ limit, note: null });
    });

    it('names the period of the plan', () => {
      expect(usageView({ ...plans.basic, periodDescription: 'month' }, 1).label).toBe('Messages used this month:');
    });

    it('knows the allowance of a platinum plan without a number', () => {
      const platinum = { ...plans.platinum, messageLimit: null };
      expect(usageView(platinum, 16)).toMatchObject({
        limit: 160,
        percent: 10,
        note: '160 messages per week on this plan.',
      });
    });

    it.each([null, -1])('does not track a plan whose limit is %s', (messageLimit) => {
      expect(usageView({ ...plans.basic, messageLimit }, 3)).toMatchObject({
        limit: null,
        note: 'Usage tracking not applicable for this plan.',
      });
    });
  });

  describe('the percentage', () => {
    it('is rounded and ends at 100', () => {
      expect(usagePercent(1, 3)).toBe(33);
      expect(usagePercent(2, 3)).toBe(67);
      expect(usagePercent(0, 5)).toBe(0);
      expect(usagePercent(9, 5)).toBe(100);
    });

    it('is full where nothing is allowed', () => {
      expect(usagePercent(0, 0)).toBe(100);
    });
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
    expect(readUser({ metadata: { messagesUsedThisPeriod: 3 } }).messagesUsedThisPeriod).toBe(3);
    expect(
      readUser({ messagesUsedThisPeriod: 4, metadata: { messagesUsedThisPeriod: 3 } }).metadata.messagesUsedThisPeriod,
    ).toBe(4);
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
