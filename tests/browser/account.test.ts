import type { Page } from 'playwright/test';
import {
  dismissToasts,
  expectToasts,
  open,
  openAccount,
  returnToTab,
  settle,
  stopTime,
  storedToken,
} from './support/page.ts';
import { expect, test } from './support/stubbed.ts';

test('the header shows the number and the ways to the chat and out', async ({ page, stub }) => {
  await openAccount(page, stub);
  const main = page.getByRole('main');
  await expect(main.getByText('+1 555-123-4567', { exact: true })).toBeVisible();
  const chat = main.getByRole('link', { name: 'Chat with Solace' });
  await expect(chat).toHaveAttribute('href', 'https://wa.me/15550100199');
  await expect(chat).toHaveAttribute('target', '_blank');
  await expect(chat).toHaveAttribute('rel', /noopener/);

  stub.person({ phoneNumber: '+447911123456' });
  await returnToTab(page);
  await expect(main.getByText('+44 791-112-3456', { exact: true })).toBeVisible();
  stub.person({ phoneNumber: null });
  await returnToTab(page);
  await expect(main.getByText('Invalid Number', { exact: true })).toBeVisible();
});

test('logging out ends the session, here and in the history', async ({ page, stub }) => {
  await openAccount(page, stub);
  await page.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL('**/login');
  await expectToasts(page, ['Logged out successfully']);
  expect(await storedToken(page)).toBeNull();
  expect(stub.calls('logout')).toMatchObject([{ token: 'Bearer e2e-token' }]);
  await page.goBack();
  await expect(page.getByRole('button', { name: 'Logout' })).toHaveCount(0);
  await open(page, '/account');
  await page.waitForURL('**/login');
});

test('user data is awaited where even the number is missing', async ({ page, stub }) => {
  await openAccount(page, stub, { phoneNumber: null });
  const release = stub.hold('getMe');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await expect(page.getByText('Loading user data...')).toBeVisible();
  release();
  await expect(page.getByText('Invalid Number')).toBeVisible();
});

test('the way to the account waits for the session, then leads to the login or to approval', async ({ page, stub }) => {
  await open(page, '/account');
  await page.waitForURL('**/login');
  await stub.signedIn({ status: 'pending' });
  await page.goto('/account');
  await page.waitForURL('**/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  await settle(page);
  expect(stub.calls('getPlatform')).toEqual([]);
});

test('the profile is fetched when the tab is seen again', async ({ page, stub }) => {
  await openAccount(page, stub, { used: 1 });
  await expect(page.getByText('1 / 5')).toBeVisible();
  stub.person({ used: 2 });
  await returnToTab(page);
  await expect(page.getByText('2 / 5')).toBeVisible();
});

test.describe('the return from the payment provider', () => {
  test('verifies the session, shows the new plan and cleans the address', async ({ page, stub }) => {
    await stub.signedIn({ tier: 'premium', renewalDate: '2025-01-05T09:00:00.000Z' });
    stub.respond('verifyCheckoutSession', { success: true, tierUpdated: true, newTier: 'premium' });
    await open(page, '/account?session_id=cs_1');
    await expectToasts(page, ['Plan Updated', 'Your plan has been updated to Premium']);
    expect(stub.calls('verifyCheckoutSession')).toMatchObject([{ body: { sessionId: 'cs_1' } }]);
    expect(stub.calls('getMe').length).toBeGreaterThan(1);
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('shows nothing if the plan is the same, and a failure once', async ({ page, stub }) => {
    await stub.signedIn();
    stub.respond('verifyCheckoutSession', { success: true, tierUpdated: false, newTier: 'free' });
    await open(page, '/account?session_id=cs_1');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expectToasts(page);
    stub.respond('verifyCheckoutSession', {}, 503);
    await open(page, '/account?session_id=cs_2');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expectToasts(page, ['Server error. Please try again later.']);
  });

  for (const status of ['success', 'cancelled']) {
    test(`fetches the profile after ${status}`, async ({ page, stub }) => {
      await stub.signedIn();
      await open(page, `/account?status=${status}`);
      await expect.poll(() => new URL(page.url()).search).toBe('');
      expect(stub.calls('getMe').length).toBeGreaterThan(1);
      expect(stub.calls('verifyCheckoutSession')).toEqual([]);
    });
  }
});

test('Ctrl+Shift+D shows and hides facts that hold no secret', async ({ page, stub }) => {
  await openAccount(page, stub, { tier: 'basic', subscriptionStatus: 'past_due' });
  const debug = page.getByRole('region', { name: 'Debug' });
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  await expect(debug).toHaveCount(0);
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toContainText('past_due');
  await expect(debug).not.toContainText('e2e-token');
  await expect(debug).not.toContainText('1234567');
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toHaveCount(0);
});

const card = (page: Page) => page.getByRole('region', { name: 'Messaging Platform' });
const whatsapp = (page: Page) => card(page).getByRole('radio', { name: 'Receive messages via WhatsApp' });
const web = (page: Page) => card(page).getByRole('radio', { name: 'Chat through the web interface' });
const update = (page: Page) => card(page).getByRole('button', { name: 'Update Platform' });

test('the platform is changed once the choice differs, and can be changed back', async ({ page, stub }) => {
  await openAccount(page, stub);
  await expect(whatsapp(page)).toBeChecked();
  await expect(update(page)).toHaveCount(0);
  await card(page).getByText('Chat through the web interface').click();
  stub.respond('putPlatform', { success: true, platform: 'web' });
  await update(page).click();
  await expectToasts(page, ['Platform updated', 'You will now receive messages via Web']);
  expect(stub.calls('putPlatform')).toMatchObject([{ body: { platform: 'web' }, token: 'Bearer e2e-token' }]);
  await expect(update(page)).toHaveCount(0);

  await dismissToasts(page);
  await card(page).getByText('Receive messages via WhatsApp').click();
  stub.respond('putPlatform', { success: true, platform: 'whatsapp' });
  await update(page).click();
  await expectToasts(page, ['Platform updated', 'You will now receive messages via WhatsApp']);
});

test('a choice that is undone makes no call', async ({ page, stub }) => {
  stub.respond('getPlatform', { success: true, platform: 'web' });
  await openAccount(page, stub);
  await expect(web(page)).toBeChecked();
  await card(page).getByText('Receive messages via WhatsApp').click();
  await expect(update(page)).toBeVisible();
  await card(page).getByText('Chat through the web interface').click();
  await expect(update(page)).toHaveCount(0);
});

test('a failed update keeps the choice and says why', async ({ page, stub }) => {
  await openAccount(page, stub);
  await card(page).getByText('Chat through the web interface').click();
  const failing = [
    [() => stub.respond('putPlatform', { success: false, message: 'Not today.' }), 'Update failed', 'Not today.'],
    [() => stub.respond('putPlatform', { success: false }), 'Update failed', 'Failed to update platform preference'],
    [() => stub.respond('putPlatform', { message: 'Not now.' }, 409), 'Update failed', 'Not now.'],
    [() => stub.disconnect('putPlatform'), 'Error', 'Failed to update platform preference'],
  ] as const;
  for (const [arrange, title, text] of failing) {
    arrange();
    await update(page).click();
    await expectToasts(page, [title, text]);
    await dismissToasts(page);
  }
  await expect(web(page)).toBeChecked();
});

test('there is no card without a known preference', async ({ page, stub }) => {
  const release = stub.hold('getPlatform');
  await openAccount(page, stub);
  await expect(card(page)).toHaveAttribute('aria-busy', 'true');
  stub.respond('getPlatform', { success: false });
  await page.reload();
  await expect(page.getByRole('region', { name: 'Account Management' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);
  release();
});

test('a preference that cannot be loaded shows one error, after a retry', async ({ page, stub }) => {
  await stopTime(page);
  stub.respond('getPlatform', {}, 503);
  await openAccount(page, stub);
  await expect.poll(() => stub.calls('getPlatform').length).toBe(1);
  await expect(card(page)).toHaveAttribute('aria-busy', 'true');
  await page.clock.resume();
  await expectToasts(page, ['Server error. Please try again later.']);
  expect(stub.calls('getPlatform')).toHaveLength(2);
  await expect(card(page)).toHaveCount(0);
});
