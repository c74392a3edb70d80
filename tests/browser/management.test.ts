import type { Page } from 'playwright/test';
import type { Person } from './support/person.ts';
import { returnToTab, expect, open, test } from './support/stubbed.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const dated = { renewalDate: '2025-01-05T09:00:00.000Z' };
const cancelled = { ...dated, cancelAtDate: '2025-01-05T09:00:00.000Z' };

const change = 'Update payment method, change plan, or cancel subscription';
const history = 'View billing history and manage payment methods';
const rows: [Person, string, string][] = [
  [{ tier: 'free' }, 'Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'],
  [{ tier: 'inactive', ...cancelled }, 'Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'],
  [
    { tier: 'basic', subscriptionStatus: 'cancellation_scheduled', ...cancelled },
    'Manage Cancellation',
    'Reactivate your subscription or change your plan',
  ],
  [
    { tier: 'premium', isTrial: true, subscriptionStatus: 'trialing', scheduled: 'basic', ...dated },
    'Manage Scheduled Plan',
    'Modify or cancel your scheduled plan',
  ],
  [
    { tier: 'premium', isTrial: true, scheduled: 'basic', ...cancelled },
    'Manage Cancellation',
    'Reactivate your subscription or change your plan',
  ],
  [{ tier: 'premium', isTrial: true, subscriptionStatus: 'trialing', ...dated }, 'Manage Subscription', change],
  [{ tier: 'basic', ...dated }, 'Manage Subscription', change],
  [
    { tier: 'premium', subscriptionStatus: 'downgrade_scheduled', scheduled: 'basic', ...dated },
    'Manage Subscription',
    change,
  ],
  [{ tier: 'basic', subscriptionStatus: 'past_due', ...dated }, 'Manage Subscription', history],
  [{ tier: 'basic', subscriptionStatus: null, ...dated }, 'Manage Subscription', history],
];

test('the subscription button says what it is for', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  for (const [index, [person, label, hint]] of rows.entries()) {
    // The count identifies the shown row.
    stub.person({ ...person, used: index + 1 });
    await returnToTab(page);
    await expect(page.getByText(new RegExp(`^${index + 1} / \\d+$`))).toBeVisible();
    const button = card(page).getByRole('button', { name: label, exact: true });
    await expect(button, JSON.stringify(person)).toHaveAccessibleDescription(hint);
  }
  await expect(card(page).getByRole('button', { name: 'Billing Management' })).toHaveAccessibleDescription(
    'Access payment details, invoices, and subscription info',
  );
});
