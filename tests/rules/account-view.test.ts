import { describe, expect, it } from 'vitest';
import {
  statusLine,
  type StatusFacts,
  managementButton,
  usagePercent,
  usageView,
} from '../../web/rules/account-view.ts';
import { planOf, plans } from '../../worker/contract/plans.ts';
import { readUser } from '../../web/rules/user-profile.ts';

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
