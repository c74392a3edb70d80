import type { Page } from 'playwright/test';
import { deleteAccount, expectToFit } from './support/page.ts';
import { day, hour, type Phone } from './support/phone.ts';
import { buy, expect, signInByExternalToken, test } from './support/test.ts';

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });
const expectPlan = (page: Page, text: string | RegExp) =>
  expect(planCard(page).getByText(text, { exact: true })).toBeVisible();
const expectPayment = (page: Page) => expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
const free = 'Free plan - upgrade to get full access';
const renews = /^Renews on /;

async function openCheckout(page: Page, plan: string): Promise<void> {
  await page.goto('/plans');
  await page.getByRole('button', { name: `Choose ${plan}` }).click();
  await expect(page.getByRole('button', { name: 'Subscribe' })).toBeVisible();
}

async function subscriber(page: Page, phone: Phone, plan: string): Promise<void> {
  await signInByExternalToken(page, phone);
  await buy(page, plan);
  await expectPlan(page, plan);
}

async function openPortal(page: Page, button: string): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: button }).click();
  const portal = await popup;
  await expect(portal.getByRole('heading').first()).toBeVisible();
  return portal;
}

test('a dearer plan begins a new week at once, and a cheaper one at the end of the week', async ({ page, phone }) => {
  await subscriber(page, phone, 'Basic');
  await phone.write('Hello again');
  await expect(page.getByText('1 / 30')).toBeVisible();
  // Stripe counts in seconds: a change in the second of the purchase begins no new week.
  await phone.advance(hour);
  const portal = await openPortal(page, 'Manage Subscription');
  await portal.getByRole('button', { name: 'Switch to Premium' }).click();
  await expectPlan(page, 'Premium');
  await expect(page.getByText('0 / 70')).toBeVisible();
  const again = await openPortal(page, 'Manage Subscription');
  await again.getByRole('button', { name: 'Switch to Basic' }).click();
  await expectPlan(page, /^Downgrade scheduled\. Changes to Basic on /);
  await phone.advance(7 * day);
  await expectPlan(page, 'Basic');
  await expectPlan(page, renews);
});

test('a cancellation can be taken back, or ends the plan with the week', async ({ page, phone }) => {
  await subscriber(page, phone, 'Basic');
  const portal = await openPortal(page, 'Billing Management');
  const cancel = portal.getByRole('button', { name: 'Cancel subscription', exact: true });
  await cancel.click();
  await expectPlan(page, /^Cancellation scheduled\. Changes to Free on /);
  await portal.getByRole('button', { name: "Don't cancel subscription" }).click();
  await expectPlan(page, renews);
  await cancel.click();
  await expect(page.getByRole('button', { name: 'Manage Cancellation' })).toBeVisible();
  await phone.advance(7 * day);
  await expectPlan(page, free);
  await expect(page.getByRole('button', { name: 'Upgrade Your Plan' })).toBeVisible();
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
  await expectPlan(page, renews);
  await expect(page.getByText('0 / 30')).toBeVisible();

  // Deleting the account ends what could charge.
  await deleteAccount(page);
  await page.waitForURL('**/login');
  const { customer, subscriptions } = await phone.holdings();
  expect(customer['deleted']).toBe(true);
  expect(subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});

/** Pays with a card whose bank asks its holder to confirm. */
async function pay(page: Page, card: string): Promise<void> {
  await page.getByRole('radio', { name: card }).check();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Authentication needed' })).toBeVisible();
}

test('a failed authentication buys nothing, and a renewal can ask for another', async ({
  page,
  context,
  phone,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 402/);
  await signInByExternalToken(page, phone);
  await openCheckout(page, 'Premium');
  // Its bank asks at each payment.
  await pay(page, '4000 0027 6000 3184');
  await page.getByRole('button', { name: 'Fail authentication' }).click();
  await expect(page.getByText('We are unable to authenticate your payment method.')).toBeVisible();
  expect((await phone.holdings()).subscriptions.filter(({ status }) => status === 'active')).toEqual([]);
  const account = await context.newPage();
  await account.goto('/account');
  await expectPlan(account, free);

  await pay(page, '4000 0027 6000 3184');
  await page.getByRole('button', { name: 'Complete authentication' }).click();
  await expectPayment(page);
  await expectToFit(page, 1440, 360);
  await expectPlan(account, renews);
  await expect(account.getByText('0 / 70')).toBeVisible();

  await phone.write('Hello');
  await phone.advance(7 * day + 2 * hour);
  await expectPlan(account, 'Payment Past Due');
  const invoice = await openPortal(account, 'Manage Subscription');
  await invoice.getByRole('button', { name: 'Complete authentication' }).click();
  await expect(invoice.getByText('Paid', { exact: true })).toBeVisible();
  await expectPlan(account, renews);
  await expect(account.getByText('0 / 70')).toBeVisible();
});
