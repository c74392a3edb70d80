import { expect, it } from 'vitest';
import { cancelView } from '../../web/rules/cancel-view.ts';
import { readUser } from '../../web/rules/user-profile.ts';

type Facts = {
  tier?: string;
  subscriptionStatus?: string;
  cancelAtDate?: string;
  scheduled?: string;
  isTrial?: boolean;
  hiddenUntil?: string;
};

const end = '2026-12-01T09:00:00.000Z';

function viewOf({ tier = 'premium', scheduled, hiddenUntil, isTrial = false, ...facts }: Facts) {
  const metadata = { subscriptionTier: tier, renewalDate: end, scheduledDowngradeTierId: scheduled, ...facts };
  return cancelView(readUser({ isTrial, metadata } as never), hiddenUntil ?? null, 'UTC');
}

const rows: [string, Facts, string, 'cancel' | 'resume' | null][] = [
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
    'a trial with a plan behind it',
    { subscriptionStatus: 'trialing', isTrial: true, scheduled: 'basic' },
    'Your trial stays until December 1, 2026. If you cancel, Basic does not begin after it, and nothing is charged.',
    'cancel',
  ],
  [
    'a trial that shows no other plan',
    { subscriptionStatus: 'trialing', isTrial: true },
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
    { subscriptionStatus: 'cancellation_scheduled', cancelAtDate: end, isTrial: true },
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

it('keeps the date of a cancellation that a trial hides', () => {
  const view = viewOf({ subscriptionStatus: 'trialing', isTrial: true, hiddenUntil: end });
  expect(view).toEqual({
    plan: 'Your plan: Premium (Free Trial)',
    text: 'Your subscription is cancelled. Your trial stays until December 1, 2026, no plan follows it, and nothing is charged.',
    action: 'resume',
  });
});
