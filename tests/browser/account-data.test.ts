import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright/test';
import { dismissToasts, expectToasts, expectToBeAccessible, openAccount, storedToken } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const management = (page: Page) => page.getByRole('region', { name: 'Account Management' });
const sessions = [
  { id: 's2', createdAt: '2026-11-20T10:00:00.000Z', lastSeenAt: '2026-11-21T10:00:00.000Z', current: true },
  { id: 's1', createdAt: '2026-11-01T10:00:00.000Z', lastSeenAt: '2026-11-02T10:00:00.000Z', current: false },
];

test('the data is saved as a JSON file, and a download that fails says so once', async ({ page, stub }) => {
  stub.respond('exportMe', { success: true, profile: { phoneNumber: '+15551234567' } });
  await openAccount(page, stub);
  const download = page.waitForEvent('download');
  await management(page).getByRole('button', { name: 'Download My Data' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^solace-data-\d{4}-\d\d-\d\d\.json$/);
  const text = await readFile(await file.path(), 'utf8');
  expect(JSON.parse(text)).toEqual({ success: true, profile: { phoneNumber: '+15551234567' } });
  await expectToasts(page);
  stub.respond('exportMe', {}, 404);
  await management(page).getByRole('button', { name: 'Download My Data' }).click();
  await expectToasts(page, ['Error', 'Failed to download your data']);
});

test('another session can be ended, this one cannot, and logging out everywhere ends both', async ({ page, stub }) => {
  stub.respond('getSessions', { success: true, sessions });
  stub.respond('endSession', { success: true });
  await openAccount(page, stub);
  await management(page).getByRole('button', { name: 'Sessions' }).click();
  const rows = management(page).getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(0)).toContainText('This device');
  await expect(rows.nth(0)).toContainText('Signed in on November 20, 2026');
  await expect(rows.nth(0).getByRole('button')).toHaveCount(0);
  stub.respond('getSessions', { success: true, sessions: sessions.slice(0, 1) });
  await rows.nth(1).getByRole('button', { name: 'End session' }).click();
  await expect(rows).toHaveCount(1);
  await expectToasts(page, ['Session ended']);
  expect(stub.calls('endSession')).toMatchObject([{ path: '/api/user/sessions/s1' }]);
  await dismissToasts(page);

  stub.respond('logout', {}, 503);
  await management(page).getByRole('button', { name: 'Log out everywhere' }).click();
  await expectToasts(page, ['Error', 'Server error. Please try again later.']);
  expect(await storedToken(page)).toBe('e2e-token');
  stub.respond('logout', { success: true });
  await management(page).getByRole('button', { name: 'Log out everywhere' }).click();
  await page.waitForURL('**/login');
  expect(stub.calls('logout').map(({ body }) => body)).toEqual([{ everywhere: true }, { everywhere: true }]);
  expect(await storedToken(page)).toBeNull();
});

const remove = (page: Page) => page.getByRole('main').getByRole('button', { name: 'Delete Account' });
const deletion = (page: Page) => page.getByRole('alertdialog', { name: 'Are you absolutely sure?' });

async function confirm(page: Page): Promise<void> {
  await remove(page).click();
  await deletion(page).getByRole('button', { name: 'Delete Account' }).click();
}

test('the deletion says what is lost, keeps the focus and gives it back; a failure keeps the account', async ({
  page,
  stub,
}) => {
  await openAccount(page, stub);
  for (const leave of [
    () => deletion(page).getByRole('button', { name: 'Cancel' }).click(),
    () => page.keyboard.press('Escape'),
  ]) {
    await remove(page).click();
    await expect(deletion(page)).toHaveAccessibleDescription(
      'This action cannot be undone. This will permanently delete your account, all your chat history, and cancel any active subscriptions.',
    );
    await expect(deletion(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(deletion(page).getByRole('button', { name: 'Delete Account' })).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(page.locator(':focus'), 'the focus is in the interface of the browser').toHaveCount(0);
    await page.keyboard.press('Tab');
    await expect(deletion(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
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

  const failing = [
    [() => stub.respond('deleteMe', { success: false, error: 'Still paying.' }), 'Still paying.'],
    [() => stub.respond('deleteMe', { success: false, message: 'Not yet.' }), 'Not yet.'],
    [() => stub.respond('deleteMe', { success: false }), 'Failed to delete account'],
    [() => stub.respond('deleteMe', {}, 404), 'Failed to delete account'],
    [() => stub.respond('deleteMe', {}, 503), 'Server error. Please try again later.'],
  ] as const;
  for (const [arrange, text] of failing) {
    arrange();
    await confirm(page);
    await expectToasts(page, ['Error', text]);
    await dismissToasts(page);
    await expect(remove(page)).toBeEnabled();
  }
  expect(await storedToken(page)).toBe('e2e-token');
  await expectDeletion(page, stub, { success: true, message: 'Farewell.' }, 'Farewell.');
});

test('a toast waits until the dialog has closed, where a screen reader reaches it', async ({ page, stub }) => {
  await openAccount(page, stub);
  const refresh = page.getByRole('button', { name: 'Refresh plan' });
  const told = ['Success', 'Profile refreshed successfully'] as const;
  await refresh.click();
  await expectToasts(page, told);
  await dismissToasts(page);
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

test('the account is deleted, and the page says so', async ({ page, stub }) => {
  await openAccount(page, stub);
  await expectDeletion(page, stub, { success: true }, 'Account deleted successfully');
  await page.goBack();
  await expect(page.getByRole('region', { name: 'Account Management' })).toHaveCount(0);
});

async function expectDeletion(page: Page, stub: Stub, answer: object, text: string): Promise<void> {
  stub.respond('deleteMe', answer);
  const release = stub.hold('deleteMe');
  await confirm(page);
  await expect(page.getByText('Deleting account data...')).toBeVisible();
  release();
  await page.waitForURL('**/login');
  await expectToasts(page, ['Success', text]);
  expect(await storedToken(page)).toBeNull();
}
