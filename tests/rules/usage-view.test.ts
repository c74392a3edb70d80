import { describe, expect, it } from 'vitest';
import { planOf, plans } from '../../worker/contract/plans.ts';
import { usagePercent, usageView } from '../../web/rules/account-view.ts';

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
