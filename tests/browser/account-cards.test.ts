import type { Page } from 'playwright/test';
import { dismissToasts, expectToasts, openAccount, returnToTab, settle, stopTime } from './support/page.ts';
import type { Person } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });
const renewalDate = '2025-01-05T09:00:00.000Z';
const cancelAtDate = '2025-02-28T09:00:00.000Z';
const trial = { tier: 'premium', isTrial: true, subscriptionStatus: 'trialing' };
const downgrade = { tier: 'premium', subscriptionStatus: 'downgrade_scheduled', scheduled: 'basic' };

/** One row for each field of the profile that the line reads; tests/rules has every case. */
const statusLines: [Person, string][] = [
  [{ ...trial, renewalDate, scheduled: 'basic' }, 'Trial ends on January 5, 2025 and will switch to Basic'],
  [{ ...downgrade, cancelAtDate, renewalDate }, 'Downgrade scheduled. Changes to Basic on February 28, 2025'],
  [{ tier: 'basic', subscriptionStatus: 'past_due', renewalDate }, 'Payment Past Due'],
  [{ tier: null, subscriptionStatus: null }, 'Free plan - upgrade to get full access'],
  [{ tier: 'basic', renewalDate }, 'Renews on January 5, 2025'],
];

test('the status line shows the next change of the plan', async ({ page, stub }) => {
  await openAccount(page, stub);
  for (const [person, line] of statusLines) {
    // A distinct state in between shows that each row was read again.
    stub.person({ tier: 'platinum', subscriptionStatus: 'active', renewalDate: '2031-12-31T09:00:00.000Z' });
    await returnToTab(page);
    await expect(planCard(page).getByText('Renews on December 31, 2031')).toBeVisible();
    stub.person(person);
    await returnToTab(page);
    await expect(planCard(page).getByText(line, { exact: true }), JSON.stringify(person)).toBeVisible();
    await expect(planCard(page).getByText('Please update your payment method to reactivate.')).toHaveCount(
      line === 'Payment Past Due' ? 1 : 0,
    );
    await expect(planCard(page).getByText('Free Trial')).toHaveCount(person.isTrial ? 1 : 0);
  }
});

const descriptions = [
  ['premium', 'Premium', 'Room for deeper conversations, several times a day.'],
  ['gold', 'Free', 'A gentle way to get to know Solace.'],
] as const;

test('the planCard names and describes the plan, an unknown one as free', async ({ page, stub }) => {
  await openAccount(page, stub);
  for (const [tier, name, description] of descriptions) {
    stub.person({ tier, renewalDate });
    await returnToTab(page);
    await expect(planCard(page).getByText(name, { exact: true })).toBeVisible();
    await expect(planCard(page).getByText(description)).toBeVisible();
  }
});

for (const [region, button] of [
  ['Current Plan', 'Refresh plan'],
  ['Usage', 'Refresh usage'],
] as const) {
  test(`${button} fetches the profile and shows the result`, async ({ page, stub }) => {
    await openAccount(page, stub, { tier: 'basic', renewalDate, used: 3 });
    await expect(page.getByText('3 / 30')).toBeVisible();
    stub.person({ tier: 'basic', renewalDate, used: 4 });
    const refresh = page.getByRole('region', { name: region }).getByRole('button', { name: button });
    await refresh.click();
    await expect(page.getByText('4 / 30')).toBeVisible();
    await expectToasts(page, ['Success', 'Profile refreshed successfully']);
    await dismissToasts(page);
    stub.respond('getMe', { success: false });
    await refresh.click();
    await expectToasts(page, ['Error', 'Failed to refresh profile']);
    await dismissToasts(page);
    stub.respond('getMe', { success: false, message: 'Nobody is here.' }, 403);
    await refresh.click();
    await expectToasts(page, ['Error', 'Failed to refresh profile']);
    await expect(page.getByText('4 / 30')).toBeVisible();
  });
}

test('a failed read is tried once more after a second, and no more', async ({ page, stub }) => {
  await stopTime(page);
  await openAccount(page, stub);
  await expect(planCard(page)).toBeVisible();
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
  await expectToasts(page, ['Error', 'Failed to refresh profile']);
  await page.clock.fastForward(60_000);
  await settle(page);
  expect(made()).toBe(2);
});

const usageCard = (page: Page) => page.getByRole('region', { name: 'Usage', exact: true });
const bar = (page: Page) => usageCard(page).getByRole('progressbar', { name: 'Messages used this week:' });

/** Serves the site with other allowances than the catalogue's. */
async function withAllowance(page: Page, allowance: number, instead: string): Promise<void> {
  await page.route('**/assets/**/*.js', async (route) => {
    const response = await route.fetch();
    const code = await response.text();
    await route.fulfill({ response, body: code.replace(`messageLimit:${allowance}`, `messageLimit:${instead}`) });
  });
}

const usages: [Person, string, number][] = [
  [{ tier: 'free', used: 2 }, '2 / 5', 40],
  [{ tier: 'premium', used: 69 }, '69 / 70', 99],
  [{ tier: 'basic', used: 44 }, '44 / 30', 100],
];

test('the usageCard shows how much of the week is used, at most a full bar', async ({ page, stub }) => {
  await openAccount(page, stub);
  await expect(usageCard(page).getByText('Messages used this week:')).toBeVisible();
  for (const [person, value, percent] of usages) {
    stub.person(person);
    await returnToTab(page);
    await expect(usageCard(page).getByText(value, { exact: true })).toBeVisible();
    await expect(bar(page)).toHaveAttribute('aria-valuenow', String(percent));
    await expect(bar(page)).toHaveAttribute('aria-valuetext', `${value.replace(' / ', ' of ')} messages used`);
    await expect(usageCard(page).getByText('Upgrade for more messages.')).toHaveCount(person.tier === 'free' ? 1 : 0);
  }
});

test('another plan without a limit tracks nothing', async ({ page, stub }) => {
  await withAllowance(page, 70, 'null');
  await openAccount(page, stub, { tier: 'premium', used: 7 });
  await expect(usageCard(page).getByText('Usage tracking not applicable for this plan.')).toBeVisible();
  await expect(usageCard(page).getByRole('progressbar')).toHaveCount(0);
});

test('an allowance without end compares as Unlimited', async ({ page, stub }) => {
  await withAllowance(page, 160, '-1');
  await openAccount(page, stub);
  const row = page.getByRole('row', { name: /^Messages per week/ });
  await expect(row.getByRole('cell')).toHaveText(['5', '30', '70', 'Unlimited']);
});

test('a skeleton stands in while the usage is fetched', async ({ page, stub }) => {
  await openAccount(page, stub, { used: 1 });
  await expect(usageCard(page).getByText('1 / 5')).toBeVisible();
  const before = await usageCard(page).boundingBox();
  const release = stub.hold('getMe');
  await usageCard(page).getByRole('button', { name: 'Refresh usage' }).click();
  await expect(usageCard(page).locator('[aria-busy=true] [data-loading=true]')).toBeVisible();
  expect(await usageCard(page).boundingBox()).toEqual(before);
  release();
  await expect(usageCard(page).locator('[data-loading=true]')).toHaveCount(0);
});
