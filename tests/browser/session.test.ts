import type { Page } from '@playwright/test';
import type { Stub } from './support/stub.ts';
import { comeBack, expect, expectNotices, open, settle, storedToken, test } from './support/stubbed.ts';

test('a spinner shows while the session starts, where a page is not for everybody', async ({ page, stub }) => {
  await stub.loggedIn();
  const release = stub.hold('getMe');
  await open(page, '/account');
  await expect(page.getByText('Loading application...')).toBeVisible();
  await expect(page.getByRole('navigation')).toHaveCount(0);
  release();
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  await expect(page.getByText('Loading application...')).toHaveCount(0);
  await page.evaluate(() => localStorage.clear());
  await open(page, '/login');
  await expect(page.getByText('Loading application...')).toHaveCount(0);
  expect(stub.calls('getMe')).toHaveLength(1);
});

const starts: [arrange: (stub: Stub) => void, told: string, keeps?: true][] = [
  [(stub) => stub.answer('getMe', { message: 'Over.' }, 401), 'Session expired. Please log in again.'],
  [(stub) => stub.answer('getMe', {}, 403), 'You do not have permission to perform this action'],
  [(stub) => stub.answer('getMe', {}, 404), 'An unexpected error occurred while fetching user data.'],
  [(stub) => stub.answer('getMe', { success: false }), 'Failed to fetch user profile data.'],
  [(stub) => stub.answer('getMe', { success: false, message: 'Nobody is here.' }), 'Nobody is here.'],
  // While the server is away the token may still be good.
  [(stub) => stub.answer('getMe', {}, 503), 'Server error. Please try again later.', true],
  [(stub) => stub.cut('getMe'), 'Unable to connect to server. Please check your internet connection.', true],
];

for (const [arrange, told, keeps] of starts) {
  test(`a start without a profile leads to the login: ${told}`, async ({ page, stub }) => {
    await stub.loggedIn();
    arrange(stub);
    await open(page, '/account');
    await page.waitForURL('**/login');
    await expectNotices(page, [told]);
    expect(await storedToken(page)).toBe(keeps ? 'e2e-token' : null);
    await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Login' })).toBeVisible();
  });
}

const protectedCalls: [what: string, name: Parameters<Stub['answer']>[0], act: (page: Page) => Promise<unknown>][] = [
  ['reading the profile', 'getMe', (page) => page.getByRole('button', { name: 'Refresh usage' }).click()],
  ['coming back', 'getMe', comeBack],
  ['the billing portal', 'createPortalSession', (page) => page.getByRole('button', { name: 'Billing' }).click()],
];

for (const [what, name, act] of protectedCalls) {
  test(`a session that ends during ${what} is told once and leads to the login`, async ({ page, stub }) => {
    await stub.loggedIn();
    await open(page, '/account');
    stub.answer(name, { success: false, message: 'Over.' }, 401);
    await act(page);
    await page.waitForURL('**/login');
    await expectNotices(page, ['Session expired. Please log in again.']);
    expect(await storedToken(page)).toBeNull();
    const asked = stub.calls(name).length;
    await settle(page);
    expect(stub.calls(name)).toHaveLength(asked);
  });
}
