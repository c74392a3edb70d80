import { expect, it } from 'vitest';
import { managementButton } from '../../web/rules/account-view.ts';

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
