import type { Page } from 'playwright/test';
import { deleteAccount } from './support/page.ts';
import { day, hour } from './support/phone.ts';
import { buy, expect, signInByExternalToken, test } from './support/test.ts';

const expectPlan = (page: Page, text: string | RegExp) =>
  expect(page.getByRole('region', { name: 'Current Plan' }).getByText(text, { exact: true })).toBeVisible();
const renews = /^Renews on /;

async function openPortal(page: Page): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Manage Subscription' }).click();
  return popup;
}

test('a dearer plan begins a new week at once, and a cheaper one at the end of the week', async ({ page, phone }) => {
  await signInByExternalToken(page, phone);
  await buy(page);
  await phone.write('Hello again');
  await expect(page.getByText('1 / 30')).toBeVisible();
  // Stripe counts in seconds: a change in the second of the purchase begins no new week.
  await phone.advance(hour);
  const portal = await openPortal(page);
  await portal.getByRole('button', { name: 'Switch to Premium' }).click();
  await expectPlan(page, 'Premium');
  await expect(page.getByText('0 / 70')).toBeVisible();
  const again = await openPortal(page);
  await again.getByRole('button', { name: 'Switch to Basic' }).click();
  await expectPlan(page, /^Downgrade scheduled\. Changes to Basic on /);
  await phone.advance(7 * day);
  await expectPlan(page, 'Basic');
  await expectPlan(page, renews);
});

test('two tabs and double clicks buy one plan once, which a deletion ends', async ({ page, context, phone }) => {
  await signInByExternalToken(page, phone);
  const other = await context.newPage();
  for (const tab of [page, other]) await tab.goto('/plans');
  await Promise.all([page, other].map((tab) => tab.getByRole('button', { name: 'Choose Basic' }).dblclick()));
  for (const tab of [page, other]) await expect(tab.getByRole('button', { name: 'Subscribe' })).toBeVisible();
  expect(new URL(page.url()).pathname).toBe(new URL(other.url()).pathname);
  await page.getByRole('button', { name: 'Subscribe' }).dblclick();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  expect((await phone.holdings()).subscriptions.map(({ status }) => status)).toEqual(['active']);
  await page.getByRole('link', { name: 'Manage My Account' }).click();
  await expectPlan(page, renews);
  await expect(page.getByText('0 / 30')).toBeVisible();

  // Deleting the account ends what could charge.
  await deleteAccount(page);
  await page.waitForURL('**/login');
  const { customer, subscriptions } = await phone.holdings();
  expect(customer['deleted']).toBe(true);
  expect(subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});
