import type { Page } from 'playwright/test';
import type { Phone } from './support/phone.ts';
import { day, hour, stripe } from './support/stripe.ts';
import { signInByExternalToken, expect, test } from './support/test.ts';

/** Stripe's clock is one for all. */
test.describe.configure({ mode: 'default' });

const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });

async function openCheckout(page: Page, phone: Phone): Promise<void> {
  await signInByExternalToken(page, phone);
  await page.goto('/plans');
  await page.getByRole('button', { name: 'Choose Premium' }).click();
  await expect(page.getByRole('button', { name: 'Subscribe' })).toBeVisible();
}

/** Pays with a card whose bank asks its holder to confirm. */
async function pay(page: Page, card = '4000 0025 0000 3155'): Promise<void> {
  await page.getByRole('radio', { name: card }).check();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Authentication needed' })).toBeVisible();
}

async function subscribe(page: Page, phone: Phone): Promise<void> {
  await openCheckout(page, phone);
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await page.goto('/account');
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
}

async function openPortal(page: Page): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Manage Subscription' }).click();
  return popup;
}

/** Fits on a phone and on a wide screen. */
async function fits(page: Page): Promise<void> {
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
}

test.use({ viewport: { width: 360, height: 800 } });

test('a failed authentication buys nothing, and the next one does', async ({ page, phone, expectedErrors }) => {
  expectedErrors.push(/status of 402/);
  await openCheckout(page, phone);
  await pay(page);
  await page.getByRole('button', { name: 'Fail authentication' }).click();
  await expect(page.getByText('We are unable to authenticate your payment method.')).toBeVisible();
  expect((await stripe.holdings(phone.number)).subscriptions.filter(({ status }) => status === 'active')).toEqual([]);
  const account = await page.context().newPage();
  await account.goto('/account');
  await expect(planCard(account).getByText('Free plan - upgrade to get full access')).toBeVisible();

  await pay(page);
  await page.getByRole('button', { name: 'Complete authentication' }).click();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await fits(page);
  await expect(planCard(account).getByText(/^Renews on /)).toBeVisible();
  await expect(account.getByText('0 / 70')).toBeVisible();
  await fits(account);
});

test('a renewal that is not paid leads to the page where it can be', async ({ page, phone }) => {
  await subscribe(page, phone);
  await phone.write('Hello');
  await stripe.card(phone.number, true);
  // The renewal's invoice is a draft for an hour before it is charged.
  await stripe.advance(7 * day + 2 * hour);
  await expect(planCard(page).getByText('Payment Past Due')).toBeVisible();
  await expect(planCard(page).getByText('Please update your payment method to reactivate.')).toBeVisible();
  await expect(page.getByText('1 / 70')).toBeVisible();
  await fits(page);

  const portal = await openPortal(page);
  await portal.getByRole('radio', { name: '4242 4242 4242 4242' }).check();
  await portal.getByRole('button', { name: 'Update payment method' }).click();
  await expect(portal.getByRole('heading', { name: 'Success!' })).toBeVisible();
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText('0 / 70')).toBeVisible();
});

test('a renewal that waits for an authentication leads to the page of its invoice', async ({ page, phone }) => {
  await openCheckout(page, phone);
  await pay(page, '4000 0027 6000 3184');
  await page.getByRole('button', { name: 'Complete authentication' }).click();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await page.goto('/account');
  await phone.write('Hello');
  await stripe.advance(7 * day + 2 * hour);
  await expect(planCard(page).getByText('Payment Past Due')).toBeVisible();
  const invoice = await openPortal(page);
  await invoice.getByRole('button', { name: 'Complete authentication' }).click();
  await expect(invoice.getByText('Paid', { exact: true })).toBeVisible();
  await expect(planCard(page).getByText(/^Renews on /)).toBeVisible();
  await expect(page.getByText('0 / 70')).toBeVisible();
});

test('a disputed payment ends the plan, and another can be bought', async ({ page, phone }) => {
  await subscribe(page, phone);
  await stripe.dispute(phone.number);
  await expect(planCard(page).getByText('Free plan - upgrade to get full access')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade Your Plan' })).toBeVisible();
  await fits(page);
  expect((await stripe.holdings(phone.number)).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  await page.goto('/plans');
  await page.getByRole('button', { name: 'Choose Basic' }).click();
  await expect(page.getByRole('button', { name: 'Subscribe' })).toBeVisible();
});
