import type { Page } from 'playwright/test';
import type { Person } from './support/person.ts';
import { returnToTab, dismissNotices, expect, expectNotices, open, settle, stopTime, test } from './support/stubbed.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Current Plan' });
const renewalDate = '2025-01-05T09:00:00.000Z';
const cancelAtDate = '2025-02-28T09:00:00.000Z';
const trial = { tier: 'premium', isTrial: true, subscriptionStatus: 'trialing' };
const downgrade = { tier: 'premium', subscriptionStatus: 'downgrade_scheduled', scheduled: 'basic' };
const cancellation = { tier: 'premium', subscriptionStatus: 'cancellation_scheduled' };

const rows: [Person, string][] = [
  [{ ...trial, renewalDate }, 'Trial ends on January 5, 2025'],
  [{ ...trial, renewalDate, cancelAtDate }, 'Trial ends on January 5, 2025'],
  [{ ...trial, renewalDate, scheduled: 'basic' }, 'Trial ends on January 5, 2025 and will switch to Basic'],
  [trial, 'Trial status error - please refresh'],
  [{ ...trial, scheduled: 'platinum' }, 'Trial will switch to Platinum (error: missing date)'],
  [{ ...trial, tier: 'free', renewalDate }, 'Trial ends on January 5, 2025'],
  [{ ...downgrade, cancelAtDate, renewalDate }, 'Downgrade scheduled. Changes to Basic on February 28, 2025'],
  [{ ...downgrade, renewalDate }, 'Downgrade scheduled. Changes to Basic on January 5, 2025'],
  [downgrade, 'Downgrade scheduled. Changes to Basic (error: missing date)'],
  [{ ...downgrade, scheduled: null, renewalDate }, 'Please refresh to update status'],
  [{ ...cancellation, cancelAtDate, renewalDate }, 'Cancellation scheduled. Changes to Free on February 28, 2025'],
  [{ ...cancellation, renewalDate }, 'Cancellation scheduled. Changes to Free on January 5, 2025'],
  [cancellation, 'Cancellation scheduled. Changes to Free (error: missing date)'],
  [{ tier: 'basic', subscriptionStatus: 'past_due', renewalDate }, 'Payment Past Due'],
  [{ tier: 'basic', subscriptionStatus: 'unpaid', renewalDate }, 'Payment Past Due'],
  [{ tier: 'free', subscriptionStatus: 'past_due' }, 'Payment Past Due'],
  [{ tier: 'free', renewalDate }, 'Free plan - upgrade to get full access'],
  [{ tier: 'inactive' }, 'Free plan - upgrade to get full access'],
  [{ tier: null, subscriptionStatus: null }, 'Free plan - upgrade to get full access'],
  [{ tier: 'basic', renewalDate }, 'Renews on January 5, 2025'],
  [{ tier: 'basic' }, 'Subscription error - please refresh'],
  [{ tier: 'basic', renewalDate: 'soon' }, 'Renews on an unknown date'],
  [{ tier: 'basic', subscriptionStatus: null, renewalDate }, 'Please refresh to update status'],
];

test('the status line shows the next change of the plan', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  for (const [person, line] of rows) {
    // A distinct state in between shows that each row was read again.
    stub.person({ tier: 'platinum', subscriptionStatus: 'active', renewalDate: '2031-12-31T09:00:00.000Z' });
    await returnToTab(page);
    await expect(card(page).getByText('Renews on December 31, 2031')).toBeVisible();
    stub.person(person);
    await returnToTab(page);
    await expect(card(page).getByText(line, { exact: true }), JSON.stringify(person)).toBeVisible();
    await expect(card(page).getByText('Please update your payment method to reactivate.')).toHaveCount(
      line === 'Payment Past Due' ? 1 : 0,
    );
    await expect(card(page).getByText('Free Trial')).toHaveCount(person.isTrial ? 1 : 0);
  }
});

const plans = [
  ['free', 'Free', 'A gentle way to get to know Solace.'],
  ['basic', 'Basic', 'A steady companion for everyday ups and downs.'],
  ['premium', 'Premium', 'Room for deeper conversations, several times a day.'],
  ['platinum', 'Platinum', 'The most generous allowance, answered first.'],
  ['gold', 'Free', 'A gentle way to get to know Solace.'],
] as const;

test('the card names and describes the plan, an unknown one as free', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  for (const [tier, name, description] of plans) {
    stub.person({ tier, renewalDate });
    await returnToTab(page);
    await expect(card(page).getByText(name, { exact: true })).toBeVisible();
    await expect(card(page).getByText(description)).toBeVisible();
  }
});

for (const [region, button] of [
  ['Current Plan', 'Refresh plan'],
  ['Usage', 'Refresh usage'],
] as const) {
  test(`${button} fetches the profile and shows the result`, async ({ page, stub }) => {
    await stub.signedIn({ tier: 'basic', renewalDate, used: 3 });
    await open(page, '/account');
    await expect(page.getByText('3 / 30')).toBeVisible();
    stub.person({ tier: 'basic', renewalDate, used: 4 });
    const refresh = page.getByRole('region', { name: region }).getByRole('button', { name: button });
    await refresh.click();
    await expect(page.getByText('4 / 30')).toBeVisible();
    await expectNotices(page, ['Success', 'Profile refreshed successfully']);
    await dismissNotices(page);
    stub.respond('getMe', { success: false });
    await refresh.click();
    await expectNotices(page, ['Error', 'Failed to refresh profile']);
    await dismissNotices(page);
    stub.respond('getMe', { success: false, message: 'Nobody is here.' }, 403);
    await refresh.click();
    await expectNotices(page, ['Error', 'Failed to refresh profile']);
    await expect(page.getByText('4 / 30')).toBeVisible();
  });
}

test('a failed read is tried once more after a second, and no more', async ({ page, stub }) => {
  await stopTime(page);
  await stub.signedIn();
  await open(page, '/account');
  await expect(card(page)).toBeVisible();
  const before = stub.calls('getMe').length;
  const made = () => stub.calls('getMe').length - before;
  stub.respond('getMe', {}, 503);
  const refused = page.waitForResponse(/\/api\/user\/me$/);
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await refused;
  // The second fetch begins after the page, not only the browser, has the response.
  await settle(page);
  await page.clock.runFor(999);
  await settle(page);
  expect(made()).toBe(1);
  await page.clock.runFor(1);
  await expect.poll(made).toBe(2);
  await page.clock.resume();
  await expectNotices(page, ['Error', 'Failed to refresh profile']);
  await page.clock.fastForward(60_000);
  await settle(page);
  expect(made()).toBe(2);
});
