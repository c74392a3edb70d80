import type { Page } from 'playwright/test';
import { type PaidPlanId, plans } from '../../worker/contract/plans.ts';
import { expectToFit } from './support/page.ts';
import { day, hour, type Phone } from './support/phone.ts';
import { expect, signInByExternalToken, test } from './support/test.ts';

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });

async function openCheckout(page: Page, tier: PaidPlanId): Promise<void> {
  await page.goto('/plans');
  await page.getByRole('button', { name: `Choose ${plans[tier].name}` }).click();
  await expect(page.getByRole('button', { name: 'Subscribe' })).toBeVisible();
}

const expectPayment = (page: Page) => expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();

async function choose(page: Page, tier: PaidPlanId): Promise<void> {
  await openCheckout(page, tier);
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expectPayment(page);
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

test('a dearer plan begins a new week at once, and a cheaper one at the end of the week', async ({ page, phone }) => {
  await subscriber(page, phone, 'basic');
  await phone.write('Hello again');
  const portal = await openPortal(page, 'Manage Subscription');
  await portal.getByRole('button', { name: 'Switch to Premium' }).click();
  await expect(planCard(page).getByText('Premium', { exact: true })).toBeVisible();
  await expect(page.getByText('0 / 70')).toBeVisible();
  const again = await openPortal(page, 'Manage Subscription');
  await again.getByRole('button', { name: 'Switch to Basic' }).click();
  await expect(planCard(page).getByText(/^Downgrade scheduled\. Changes to Basic on /)).toBeVisible();
  await phone.advance(7 * day);
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
  await phone.advance(7 * day);
  await expect(planCard(page).getByText('Free plan - upgrade to get full access')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade Your Plan' })).toBeVisible();
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
  await phone.advance(3 * day + 60);
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText('0 / 30')).toBeVisible();
});

test('a free user buys a plan; two tabs and double clicks make one customer, one checkout and one subscription', async ({
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
  await expectPayment(page);
  expect((await phone.holdings()).subscriptions.map(({ status }) => status)).toEqual(['active']);
  await page.getByRole('link', { name: 'Manage My Account' }).click();
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText(`0 / ${plans.basic.messageLimit}`)).toBeVisible();

  // Deleting the account ends what could charge.
  await page.getByRole('button', { name: 'Delete Account' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Are you absolutely sure?' });
  await dialog.getByRole('button', { name: 'Delete Account' }).click();
  await page.waitForURL('**/login');
  const { customer, subscriptions } = await phone.holdings();
  expect(customer['deleted']).toBe(true);
  expect(subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 360, height: 800 } });

  /** Pays with a card whose bank asks its holder to confirm. */
  async function pay(page: Page, card = '4000 0025 0000 3155'): Promise<void> {
    await page.getByRole('radio', { name: card }).check();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await expect(page.getByRole('heading', { name: 'Authentication needed' })).toBeVisible();
  }

  test('a failed authentication buys nothing, and the next one does', async ({ page, phone, expectedErrors }) => {
    expectedErrors.push(/status of 402/);
    await signInByExternalToken(page, phone);
    await openCheckout(page, 'premium');
    await pay(page);
    await page.getByRole('button', { name: 'Fail authentication' }).click();
    await expect(page.getByText('We are unable to authenticate your payment method.')).toBeVisible();
    expect((await phone.holdings()).subscriptions.filter(({ status }) => status === 'active')).toEqual([]);
    const account = await page.context().newPage();
    await account.goto('/account');
    await expect(planCard(account).getByText('Free plan - upgrade to get full access')).toBeVisible();

    await pay(page);
    await page.getByRole('button', { name: 'Complete authentication' }).click();
    await expectPayment(page);
    await expectToFit(page, 1440, 360);
    await expect(planCard(account).getByText(/^Renews on /)).toBeVisible();
    await expect(account.getByText('0 / 70')).toBeVisible();
    await expectToFit(account, 1440, 360);
  });

  test('a renewal that is not paid leads to the page where it can be', async ({ page, phone }) => {
    await subscriber(page, phone, 'premium');
    await phone.write('Hello');
    await phone.card(true);
    await phone.advance(7 * day + 2 * hour);
    await expect(planCard(page).getByText('Payment Past Due')).toBeVisible();
    await expect(planCard(page).getByText('Please update your payment method to reactivate.')).toBeVisible();
    // No new week opens: the count of the last paid one stays.
    await expect(page.getByText('1 / 70')).toBeVisible();
    await expectToFit(page, 1440, 360);

    const portal = await openPortal(page, 'Manage Subscription');
    await portal.getByRole('radio', { name: '4242 4242 4242 4242' }).check();
    await portal.getByRole('button', { name: 'Update payment method' }).click();
    await expect(portal.getByRole('heading', { name: 'Success!' })).toBeVisible();
    await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
    await expect(page.getByText('0 / 70')).toBeVisible();
  });

  test('a renewal that waits for an authentication leads to the page of its invoice', async ({ page, phone }) => {
    await signInByExternalToken(page, phone);
    await openCheckout(page, 'premium');
    await pay(page, '4000 0027 6000 3184');
    await page.getByRole('button', { name: 'Complete authentication' }).click();
    await expectPayment(page);
    await page.goto('/account');
    await phone.write('Hello');
    await phone.advance(7 * day + 2 * hour);
    await expect(planCard(page).getByText('Payment Past Due')).toBeVisible();
    const invoice = await openPortal(page, 'Manage Subscription');
    await invoice.getByRole('button', { name: 'Complete authentication' }).click();
    await expect(invoice.getByText('Paid', { exact: true })).toBeVisible();
    await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
    await expect(page.getByText('0 / 70')).toBeVisible();
  });

  test('a disputed payment ends the plan, and another can be bought', async ({ page, phone }) => {
    await subscriber(page, phone, 'premium');
    await phone.dispute();
    await expect(planCard(page).getByText('Free plan - upgrade to get full access')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Upgrade Your Plan' })).toBeVisible();
    await expectToFit(page, 1440, 360);
    expect((await phone.holdings()).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
    await openCheckout(page, 'basic');
  });
});
