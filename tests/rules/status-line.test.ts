import { describe, expect, it } from 'vitest';
import { statusLine, type StatusFacts } from '../../web/rules/account-view.ts';

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
    expect(text({ ...downgrade, renewalDate: soon })).toBe('Downgrade scheduled. Changes to Basic on January 5, 2025');
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
