import type { Page } from 'playwright/test';
import { watchFirstPaint } from './support/first-paint.ts';
import type { Stub } from './support/stub.ts';
import { returnToTab, expect, expectNotices, open, settle, storedToken, test } from './support/stubbed.ts';

test('the shell of the account and a spinner show while the session starts', async ({ page, stub }) => {
  await stub.signedIn();
  const release = stub.hold('getMe');
  await page.goto('/account');
  await expect(page.getByText('Loading application...')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link')).toHaveText(['Home', /My Account$/]);
  await expect(page.getByRole('button', { name: 'Logout' })).toHaveCount(0);
  release();
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  await expect(page.getByText('Loading application...')).toHaveCount(0);
  await page.evaluate(() => localStorage.clear());
  await open(page, '/login');
  await expect(page.getByText('Loading application...')).toHaveCount(0);
  expect(stub.calls('getMe')).toHaveLength(1);
});

test('a guest does not see the shell of the account', async ({ page }) => {
  const { seen } = await watchFirstPaint(page);
  await page.goto('/account');
  await page.waitForURL('**/login');
  expect(await seen()).not.toContain('My Account');
});

const starts: [arrange: (stub: Stub) => void, told: string, keeps?: true][] = [
  [(stub) => stub.respond('getMe', { message: 'Over.' }, 401), 'Session expired. Please log in again.'],
  [(stub) => stub.respond('getMe', {}, 403), 'You do not have permission to perform this action'],
  [(stub) => stub.respond('getMe', {}, 404), 'An unexpected error occurred while fetching user data.'],
  [(stub) => stub.respond('getMe', { success: false }), 'Failed to fetch user profile data.'],
  [(stub) => stub.respond('getMe', { success: false, message: 'Nobody is here.' }), 'Nobody is here.'],
  // If the server is unreachable, the token may still be valid.
  [(stub) => stub.respond('getMe', {}, 503), 'Server error. Please try again later.', true],
  [(stub) => stub.disconnect('getMe'), 'Unable to connect to server. Please check your internet connection.', true],
];

for (const [arrange, told, keeps] of starts) {
  test(`a start without a profile leads to the login: ${told}`, async ({ page, stub }) => {
    await stub.signedIn();
    arrange(stub);
    await open(page, '/account');
    await page.waitForURL('**/login');
    await expectNotices(page, [told]);
    expect(await storedToken(page)).toBe(keeps ? 'e2e-token' : null);
    await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Login' })).toBeVisible();
  });
}

const protectedCalls: [what: string, name: Parameters<Stub['respond']>[0], act: (page: Page) => Promise<unknown>][] = [
  ['reading the profile', 'getMe', (page) => page.getByRole('button', { name: 'Refresh usage' }).click()],
  ['coming back', 'getMe', returnToTab],
  ['the billing portal', 'createPortalSession', (page) => page.getByRole('button', { name: 'Billing' }).click()],
];

for (const [what, name, act] of protectedCalls) {
  test(`a session that ends during ${what} is shown once and leads to the login`, async ({ page, stub }) => {
    await stub.signedIn();
    await open(page, '/account');
    stub.respond(name, { success: false, message: 'Over.' }, 401);
    await act(page);
    await page.waitForURL('**/login');
    await expectNotices(page, ['Session expired. Please log in again.']);
    expect(await storedToken(page)).toBeNull();
    const asked = stub.calls(name).length;
    await settle(page);
    expect(stub.calls(name)).toHaveLength(asked);
  });
}
