import type { Page } from 'playwright/test';
import {
  dismissToasts,
  expectToasts,
  open,
  openAccount,
  returnToTab,
  settle,
  shownToasts,
  stopTime,
  storedToken,
} from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

test('the header shows the number and the ways to the chat and out, and follows the profile', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const main = page.getByRole('main');
  await expect(main.getByText('+1 555-123-4567', { exact: true })).toBeVisible();
  const chat = main.getByRole('link', { name: 'Chat with Solace' });
  await expect(chat).toHaveAttribute('href', 'https://wa.me/15550100199');
  await expect(chat).toHaveAttribute('target', '_blank');
  await expect(chat).toHaveAttribute('rel', /noopener/);

  // The profile is fetched when the tab is seen again.
  stub.person({ phoneNumber: '+447911123456', tier: 'basic', subscriptionStatus: 'past_due' });
  await returnToTab(page);
  await expect(main.getByText('+44 791-112-3456', { exact: true })).toBeVisible();

  const debug = page.getByRole('region', { name: 'Debug' });
  await expect(debug).toHaveCount(0);
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toContainText('past_due');
  for (const secret of ['e2e-token', '1123456']) await expect(debug).not.toContainText(secret);
  await page.keyboard.press('Control+Shift+D');
  await expect(debug).toHaveCount(0);

  stub.person({ phoneNumber: null });
  await returnToTab(page);
  await expect(main.getByText('Invalid Number', { exact: true })).toBeVisible();
  const release = stub.hold('getMe');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await expect(page.getByText('Loading user data...')).toBeVisible();
  release();
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

type Return = { arrange?: (stub: Stub) => void; search?: string; told?: string[]; type?: string };
const comes = { success: true, tierUpdated: false, newTier: 'free' };

/** What is told after the return from the payment provider, once. */
const returns: Record<string, Return> = {
  'a new plan': {
    arrange: (stub) => stub.respond('verifyCheckoutSession', { ...comes, tierUpdated: true, newTier: 'premium' }),
    told: ['Plan Updated', 'Your plan has been updated to Premium'],
  },
  'the same plan': { arrange: (stub) => stub.respond('verifyCheckoutSession', comes) },
  'a message of the server': {
    arrange: (stub) => stub.respond('verifyCheckoutSession', { ...comes, message: 'All is well.' }),
    told: ['All is well.'],
    type: 'success',
  },
  'a failure': {
    arrange: (stub) => stub.respond('verifyCheckoutSession', {}, 503),
    told: ['Server error. Please try again later.'],
    type: 'error',
  },
  'a session that nobody knows': {
    arrange: (stub) => stub.respond('verifyCheckoutSession', { message: 'From the server.' }, 404),
  },
  'a success without a session': { search: '?status=success' },
  'a cancellation': { search: '?status=cancelled' },
};

test('the return from the payment provider shows the new plan and cleans the address', async ({ page, stub }) => {
  await stub.signedIn({ tier: 'premium', renewalDate: '2025-01-05T09:00:00.000Z' });
  // The message of a read is not shown.
  stub.respond('getPlatform', { success: true, platform: 'whatsapp', message: 'Read.' });
  for (const [what, { arrange, search = '?session_id=cs_1', told, type }] of Object.entries(returns)) {
    arrange?.(stub);
    const [fetched, verified] = [stub.calls('getMe').length, stub.calls('verifyCheckoutSession').length];
    await open(page, `/account${search}`);
    await expect.poll(() => new URL(page.url()).search, what).toBe('');
    await expect(card(page).getByRole('radio').first()).toBeVisible();
    await expectToasts(page, ...(told ? [told as [string]] : []));
    if (type) expect((await shownToasts(page)).map((toast) => toast.type)).toEqual([type]);
    expect(stub.calls('verifyCheckoutSession').slice(verified), what).toMatchObject(
      arrange ? [{ body: { sessionId: 'cs_1' } }] : [],
    );
    const isRead = told?.[0] === 'Plan Updated' || !arrange;
    if (isRead) expect(stub.calls('getMe').length - fetched, what).toBeGreaterThan(1);
  }
});

const card = (page: Page) => page.getByRole('region', { name: 'Messaging Platform' });
const whatsapp = (page: Page) => card(page).getByRole('radio', { name: 'Receive messages via WhatsApp' });
const web = (page: Page) => card(page).getByRole('radio', { name: 'Chat through the web interface' });
const update = (page: Page) => card(page).getByRole('button', { name: 'Update Platform' });

test('the platform is changed once the choice differs, can be changed back, and a failure says why', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  await expect(whatsapp(page)).toBeChecked();
  await expect(update(page)).toHaveCount(0);
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

  stub.respond('putPlatform', { success: true, platform: 'web' });
  await update(page).click();
  await expectToasts(page, ['Platform updated', 'You will now receive messages via Web']);
  expect(stub.calls('putPlatform').at(-1)).toMatchObject({ body: { platform: 'web' }, token: 'Bearer e2e-token' });
  await expect(update(page)).toHaveCount(0);
  await dismissToasts(page);
  await expect(card(page).getByRole('link', { name: 'Open the chat' })).toHaveAttribute('href', '/chat');

  // A choice that is undone leaves nothing to update.
  await card(page).getByText('Receive messages via WhatsApp').click();
  await expect(update(page)).toBeVisible();
  await card(page).getByText('Chat through the web interface').click();
  await expect(update(page)).toHaveCount(0);
  await card(page).getByText('Receive messages via WhatsApp').click();
  stub.respond('putPlatform', { success: true, platform: 'whatsapp' });
  await update(page).click();
  await expectToasts(page, ['Platform updated', 'You will now receive messages via WhatsApp']);
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
