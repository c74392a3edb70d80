import type { Page } from 'playwright/test';
import {
  expectToFit,
  follow,
  open,
  setVisible,
  settle,
  shownToasts,
  violations,
} from './support/page.ts';
import type { Phone } from './support/phone.ts';
import { buy, enterCode, expect, signInByExternalToken, stubbed, test } from './support/test.ts';

const cancelButton = (page: Page) => page.getByRole('button', { name: 'Cancel subscription' });
const keepButton = (page: Page) => page.getByRole('button', { name: 'Keep my plan' });
const footerLink = (page: Page) =>
  page.getByRole('contentinfo').getByRole('link', { name: 'Cancel subscription' });
const question = (page: Page) => page.getByText('Would you tell us why?');
const cancelled =
  /^Your subscription is cancelled\. Basic stays until (\w+ \d+, \d+), and nothing is charged after that\.$/;
const planCard = (page: Page) => page.getByRole('region', { name: 'Current Plan' });

async function buyBasic(page: Page, phone: Phone): Promise<void> {
  await signInByExternalToken(page, phone);
  await buy(page);
}

const isCancelled = async (phone: Phone) =>
  (await phone.holdings()).subscriptions.map((each) => each.cancel_at_period_end);

test('from the landing page, signed out, to the end of the subscription', async ({
  page,
  phone,
}) => {
  await buyBasic(page, phone);
  await page.evaluate(() => localStorage.clear());
  await page.goto('/');
  await footerLink(page).click();
  const note =
    'Log in, and you can cancel your subscription with one click. If you no longer have your number, write to our support.';
  await expect(page.getByText(note)).toBeVisible();
  await page.getByLabel('Phone number').fill(phone.number);
  await enterCode(page, phone);

  await expect(page.getByText(/^If you cancel, Basic stays until /)).toBeVisible();
  await expect(question(page)).toBeHidden();
  await cancelButton(page).click();
  const date = cancelled.exec((await page.getByText(cancelled).textContent())!)![1]!;
  expect(await isCancelled(phone)).toEqual([true]);
  await expect
    .poll(() => shownToasts(page))
    .toContainEqual({
      text: `Subscription cancelled / It ends on ${date}.`,
      type: 'success',
    });
  expect(await violations(page)).toEqual([]);
  await expectToFit(page, 320, 360);

  const reasons = page.getByRole('group', { name: 'Would you tell us why?' });
  await reasons.getByRole('button', { name: 'It costs too much' }).click();
  await expect(page.getByText('Thank you. That helps us.')).toBeVisible();
  await page.getByRole('link', { name: 'Go to My Account' }).click();
  await expect(
    planCard(page).getByText(`Cancellation scheduled. Changes to Free on ${date}`),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Manage Cancellation' })).toBeVisible();
});

test(
  'a cancellation shows once Stripe has answered, in two tabs',
  { tag: '@full' },
  async ({ page, context, phone, expectedErrors }) => {
    expectedErrors.push(/status of 503/, /^503 /);
    await buyBasic(page, phone);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto('/cancel');
      await expect(cancelButton(tab)).toBeVisible();
    }
    await phone.stripeFails(true);
    await cancelButton(page).click();
    const failed =
      'Our payment provider did not answer. Please try again in a moment; doing it twice does no harm.';
    await expect(page.getByRole('alert')).toHaveText(failed);
    await phone.stripeFails(false);
    await cancelButton(page).dblclick();
    await expect(page.getByText(cancelled)).toBeVisible();
    await expect(page.getByRole('alert')).toBeHidden();
    expect(await isCancelled(phone)).toEqual([true]);
    await expect(other.getByText(cancelled)).toBeVisible();
    await expect(question(other)).toBeHidden();
    await keepButton(other).dblclick();
    const kept =
      'Your plan goes on. A change to a smaller plan that was scheduled no longer takes place.';
    await expect(other.getByText(kept)).toBeVisible();
    for (const tab of [page, other]) await expect(cancelButton(tab)).toBeVisible();
    expect(await isCancelled(phone)).toEqual([false]);
  },
);

const dated = { tier: 'basic', renewalDate: '2026-12-01T09:00:00.000Z' };

stubbed(
  'a plan that a trial hides is cancelled, also if it could not be shown before',
  async ({ page, stub }) => {
    stub.respond('getSubscription', { success: false, code: 'unavailable' }, 503);
    await stub.signedIn({
      ...dated,
      tier: 'premium',
      isTrial: true,
      subscriptionStatus: 'trialing',
    });
    await open(page, '/cancel');
    await expect(
      page.getByText(
        /^Your trial ends by itself on December 1, 2026 .* you can cancel that plan here\.$/,
      ),
    ).toBeVisible();
    const cancelAtDate = '2026-12-03T09:00:00.000Z';
    const subscription = {
      tier: 'basic',
      status: 'active',
      startDate: null,
      renewalDate: cancelAtDate,
      cancelAtDate,
    };
    stub.respond('cancelPlan', { success: true, cancelAtDate });
    stub.respond('getSubscription', { success: true, subscription });
    await cancelButton(page).click();
    const end = 'Your trial stays until December 1, 2026 and Basic until December 3, 2026';
    await expect(page.getByText(end)).toBeVisible();

    // The second half of a slow double click takes nothing back.
    await keepButton(page).dispatchEvent('click', { detail: 2 });
    await settle(page);
    expect(stub.calls('resumePlan')).toEqual([]);
    stub.respond('resumePlan', { success: true });
    stub.respond('getSubscription', {
      success: true,
      subscription: { ...subscription, cancelAtDate: null },
    });
    await keepButton(page).click();
    await expect(cancelButton(page)).toBeVisible();
    expect(stub.calls('resumePlan')).toHaveLength(1);
  },
);

stubbed(
  'a plan that a trial hides is looked at again on the return from another tab',
  async ({ page, stub }) => {
    const cancelAtDate = '2026-12-03T09:00:00.000Z';
    const subscription = {
      tier: 'basic',
      status: 'active',
      startDate: null,
      renewalDate: cancelAtDate,
      cancelAtDate: null,
    };
    stub.respond('getSubscription', { success: true, subscription });
    await stub.signedIn({
      ...dated,
      tier: 'premium',
      isTrial: true,
    });
    await open(page, '/cancel');
    await expect(cancelButton(page)).toBeVisible();
    await setVisible(page, false);
    stub.respond('getSubscription', {
      success: true,
      subscription: { ...subscription, cancelAtDate },
    });
    await setVisible(page, true);
    await expect(keepButton(page)).toBeVisible();
  },
);

stubbed(
  'a failure is shown in its place, and an ended session leads to the login and back',
  async ({ page, stub }) => {
    await stub.signedIn(dated);
    await open(page, '/cancel');
    stub.disconnect('cancelPlan');
    await cancelButton(page).click();
    await expect(page.getByRole('alert')).toContainText('Unable to connect to server.');
    await expect(question(page)).toBeHidden();

    stub.respond('cancelPlan', { success: false, code: 'unauthenticated' }, 401);
    await follow(cancelButton(page), '**/login?next=%2Fcancel');
    stub.respond('verifyOtp', {
      success: true,
      token: 'e2e-new',
      status: 'approved',
    });
    await page.getByLabel('Phone number').fill('+15551234567');
    await enterCode(page);
    await expect(cancelButton(page)).toBeVisible();
  },
);

test(
  'guests read what the page is about until the login has come',
  { tag: '@full' },
  async ({ page }) => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/assets\/.*\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto('/cancel', { waitUntil: 'commit' });
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Cancel subscription');
    await expect(page.getByRole('main').getByRole('link', { name: 'Log in' })).toBeVisible();
    release();
    await page.waitForURL('**/login?next=%2Fcancel');
    await expect(page.getByLabel('Phone number')).toBeVisible();
  },
);
