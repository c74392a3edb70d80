import type { Page } from 'playwright/test';
import { plans, type PaidPlanId } from '../../worker/contract/plans.ts';
import type { Phone } from './support/phone.ts';
import { day, hour, stripe } from './support/stripe.ts';
import { signInByExternalToken, expect, test } from './support/test.ts';

/** All tests share Stripe's clock. */
test.describe.configure({ mode: 'default' });

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });

async function choose(page: Page, tier: PaidPlanId): Promise<void> {
  await page.goto('/plans');
  await page.getByRole('button', { name: `Choose ${plans[tier].name}` }).click();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await page.getByRole('link', { name: 'Manage My Account' }).click();
  await expect(planCard(page).getByText(plans[tier].name, { exact: true })).toBeVisible();
}

async function subscriber(page: Page, phone: Phone, tier: PaidPlanId): Promise<void> {
  await signInByExternalToken(page, phone);
  await choose(page, tier);
}

async function openPortal(page: Page, button: string): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: button }).click();
  const portal = await popup;
  await expect(portal.getByRole('heading').first()).toBeVisible();
  return portal;
}

for (const tier of ['basic', 'premium', 'platinum'] as const) {
  test(`a free user buys ${tier}`, async ({ page, phone }) => {
    await signInByExternalToken(page, phone);
    await choose(page, tier);
    await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
    await expect(page.getByText(`0 / ${plans[tier].messageLimit}`)).toBeVisible();
    const { subscriptions } = await stripe.holdings(phone.number);
    expect(subscriptions.map(({ status }) => status)).toEqual(['active']);
  });
}

test('a dearer plan begins at once and keeps the count', async ({ page, phone }) => {
  await subscriber(page, phone, 'basic');
  await phone.write('Hello again');
  const portal = await openPortal(page, 'Manage Subscription');
  await portal.getByRole('button', { name: 'Switch to Premium' }).click();
  await expect(planCard(page).getByText('Premium', { exact: true })).toBeVisible();
  await expect(page.getByText('1 / 70')).toBeVisible();
});

test('a cheaper plan begins at the end of the week', async ({ page, phone }) => {
  await subscriber(page, phone, 'premium');
  const portal = await openPortal(page, 'Manage Subscription');
  await portal.getByRole('button', { name: 'Switch to Basic' }).click();
  await expect(planCard(page).getByText(/^Downgrade scheduled\. Changes to Basic on /)).toBeVisible();
  await stripe.advance(7 * day);
  await expect(planCard(page).getByText('Basic', { exact: true })).toBeVisible();
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
});

test('a cancellation can be taken back, or ends the plan with the week', async ({ page, phone }) => {
  await subscriber(page, phone, 'basic');
  const portal = await openPortal(page, 'Billing Management');
  await portal.getByRole('button', { name: 'Cancel subscription', exact: true }).click();
  await expect(planCard(page).getByText(/^Cancellation scheduled\. Changes to Free on /)).toBeVisible();
  await portal.getByRole('button', { name: "Don't cancel subscription" }).click();
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await portal.getByRole('button', { name: 'Cancel subscription', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Manage Cancellation' })).toBeVisible();
  await stripe.advance(7 * day);
  await expect(planCard(page).getByText('Free plan - upgrade to get full access')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade Your Plan' })).toBeVisible();
});

test('a failing card is shown, and can be replaced', async ({ page, phone }) => {
  await subscriber(page, phone, 'basic');
  for (let sent = 0; sent < 3; sent += 1) await phone.write('Hello');
  await stripe.card(phone.number, true);
  // The renewal's invoice is a draft for an hour before it is charged.
  await stripe.advance(7 * day + 2 * hour);
  await expect(planCard(page).getByText('Payment Past Due')).toBeVisible();
  await expect(page.getByText('3 / 30')).toBeVisible();
  await stripe.card(phone.number, false);
  await stripe.advance(3 * day);
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText('0 / 30')).toBeVisible();
});

test('a card that fails for good ends in the free plan', async ({ page, phone }) => {
  await subscriber(page, phone, 'basic');
  await stripe.card(phone.number, true);
  await stripe.advance(28 * day);
  await expect(planCard(page).getByText('Free plan - upgrade to get full access')).toBeVisible();
});

test('a plan that is chosen during the trial begins when the trial ends', async ({ page, phone }) => {
  await phone.write('Hi');
  const { url } = await phone.trial({ tier: 'premium', days: 3 });
  await page.goto(url);
  await page.waitForURL('**/account');
  await expect(planCard(page).getByText('Free Trial')).toBeVisible();
  await page.goto('/plans');
  await page.getByRole('button', { name: 'Basic' }).click();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByText('Payment details saved').first()).toBeVisible();
  await page.goto('/account');
  await expect(planCard(page).getByText(/^Trial ends on .* and will switch to Basic$/)).toBeVisible();
  await stripe.advance(3 * day + 60);
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText('0 / 30')).toBeVisible();
});

test('two tabs and double clicks make one customer, one checkout and one subscription', async ({
  page,
  context,
  phone,
}) => {
  await signInByExternalToken(page, phone);
  const other = await context.newPage();
  for (const tab of [page, other]) await tab.goto('/plans');
  await Promise.all([page, other].map((tab) => tab.getByRole('button', { name: 'Choose Basic' }).dblclick()));
  for (const tab of [page, other]) await expect(tab.getByRole('button', { name: 'Subscribe' })).toBeVisible();
  expect(new URL(page.url()).pathname).toBe(new URL(other.url()).pathname);
  await page.getByRole('button', { name: 'Subscribe' }).dblclick();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  expect((await stripe.holdings(phone.number)).subscriptions).toHaveLength(1);
});

test('deleting the account ends what could charge', async ({ page, phone }) => {
  await subscriber(page, phone, 'platinum');
  await page.getByRole('button', { name: 'Delete Account' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Are you absolutely sure?' });
  await dialog.getByRole('button', { name: 'Delete Account' }).click();
  await page.waitForURL('**/login');
  const { customer, subscriptions } = await stripe.holdings(phone.number);
  expect(customer.deleted).toBe(true);
  expect(subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});
