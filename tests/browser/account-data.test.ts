import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright/test';
import {
  deleteAccount,
  expectToasts,
  expectToBeAccessible,
  follow,
  openAccount,
  storedToken,
  takeToasts,
} from './support/page.ts';
import { expect, isFull, stubbed as test } from './support/test.ts';

const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const sessions = [
  {
    id: 's2',
    createdAt: '2026-11-20T10:00:00.000Z',
    lastSeenAt: '2026-11-21T10:00:00.000Z',
    current: true,
    device: 'Safari on iPhone',
  },
  {
    id: 's1',
    createdAt: '2026-11-01T10:00:00.000Z',
    lastSeenAt: '2026-11-02T10:00:00.000Z',
    current: false,
    device: 'Chrome on Windows',
  },
];

test('the data is saved as a JSON file, and a download that fails says so once', async ({
  page,
  stub,
}) => {
  const data = {
    success: true,
    profile: { phoneNumber: '+15551234567' },
  };
  stub.respond('exportMe', data);
  await openAccount(page, stub);
  const download = page.waitForEvent('download');
  const button = management(page).getByRole('button', { name: 'Download My Data' });
  await button.click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^solace-data-\d{4}-\d\d-\d\d\.json$/);
  expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toEqual(data);
  await expectToasts(page);
  stub.respond('exportMe', {}, 404);
  await button.click();
  await expectToasts(page, ['Error', 'Failed to download your data']);
});

test('another session can be ended, this one cannot, and logging out everywhere ends both', async ({
  page,
  stub,
}) => {
  stub.respond('getSessions', { success: true, sessions });
  stub.respond('endSession', { success: true });
  await openAccount(page, stub);
  await management(page).getByRole('button', { name: 'Sessions' }).click();
  const rows = management(page).getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(0)).toContainText('This device');
  await expect(rows.nth(0)).toContainText('Signed in on November 20, 2026, ');
  await expect(rows.nth(0)).toContainText('Safari on iPhone');
  // Each button says whose session it ends.
  await expect(rows.nth(1).getByRole('button')).toHaveAccessibleName(
    /^End session: Chrome on Windows, November \d+, 2026, /,
  );
  await expect(rows.nth(0).getByRole('button')).toHaveCount(0);
  stub.respond('getSessions', {
    success: true,
    sessions: sessions.slice(0, 1),
  });
  await rows.nth(1).getByRole('button', { name: 'End session' }).click();
  await expect(rows).toHaveCount(1);
  await takeToasts(page, ['Session ended']);
  expect(stub.calls('endSession')).toMatchObject([{ path: '/api/user/sessions/s1' }]);

  const everywhere = management(page).getByRole('button', { name: 'Log out everywhere' });
  stub.respond('logout', {}, 503);
  await everywhere.click();
  await expectToasts(page, ['Error', 'Server error. Please try again later.']);
  expect(await storedToken(page)).toBe('e2e-token');
  stub.respond('logout', { success: true });
  await follow(everywhere, '**/login');
  expect(stub.calls('logout').map(({ body }) => body)).toEqual([
    { everywhere: true },
    { everywhere: true },
  ]);
  expect(await storedToken(page)).toBeNull();
});

const remove = (page: Page) =>
  page.getByRole('main').getByRole('button', { name: 'Delete Account' });
const deletion = (page: Page) =>
  page.getByRole('alertdialog', { name: 'Are you absolutely sure?' });
const failures = [
  [{ success: false, error: 'Still paying.' }, 200, 'Still paying.'],
  [{}, 404, 'Failed to delete account'],
] as const;
const moreFailures = [
  [{ success: false, message: 'Not yet.' }, 200, 'Not yet.'],
  [{ success: false }, 200, 'Failed to delete account'],
] as const;

test('the deletion says what is lost and gives the focus back; a failure keeps the account', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const cancel = deletion(page).getByRole('button', { name: 'Cancel' });
  for (const leave of [() => cancel.click(), () => page.keyboard.press('Escape')]) {
    await remove(page).click();
    await expect(deletion(page)).toHaveAccessibleDescription(
      'This action cannot be undone. This will permanently delete your account, all your chat history, and cancel any active subscriptions.',
    );
    await expect(cancel).toBeFocused();
    await expect(page.locator('html')).toHaveCSS('overflow', 'hidden');
    await leave();
    await expect(deletion(page)).toHaveCount(0);
    await expect(remove(page)).toBeFocused();
  }
  await remove(page).click();
  await expect(deletion(page)).toBeVisible();
  await expectToBeAccessible(page);
  await page.keyboard.press('Escape');
  expect(stub.calls('deleteMe')).toEqual([]);

  for (const [body, status, told] of isFull ? [...failures, ...moreFailures] : failures) {
    stub.respond('deleteMe', body, status);
    await deleteAccount(page);
    await takeToasts(page, ['Error', told]);
    await expect(remove(page)).toBeEnabled();
  }
  expect(await storedToken(page)).toBe('e2e-token');
  stub.respond('deleteMe', { success: true, message: 'Farewell.' });
  const release = stub.hold('deleteMe');
  await deleteAccount(page);
  await expect(page.getByText('Deleting account data...')).toBeVisible();
  release();
  await page.waitForURL('**/login');
  await expectToasts(page, ['Success', 'Farewell.']);
  expect(await storedToken(page)).toBeNull();
  await page.goBack();
  await expect(management(page)).toHaveCount(0);
});

test('a toast waits until the dialog has closed, where a screen reader reaches it', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  const refresh = page.getByRole('button', { name: 'Refresh plan' });
  const told = ['Success', 'Profile refreshed successfully'] as const;
  await refresh.click();
  await takeToasts(page, told);
  const release = stub.hold('getMe');
  await refresh.click();
  await remove(page).click();
  await expect(deletion(page)).toBeVisible();
  release();
  await expect(page.locator('[data-loading=true]')).toHaveCount(0);
  await expectToasts(page);
  await page.keyboard.press('Escape');
  await expectToasts(page, told);
});
