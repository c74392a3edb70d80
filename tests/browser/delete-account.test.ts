import type { Page } from 'playwright/test';
import { dismissNotices, expect, expectNotices, open, storedToken, test } from './support/stubbed.ts';

const remove = (page: Page) => page.getByRole('main').getByRole('button', { name: 'Delete Account' });
const dialog = (page: Page) => page.getByRole('alertdialog', { name: 'Are you absolutely sure?' });

async function confirm(page: Page): Promise<void> {
  await remove(page).click();
  await dialog(page).getByRole('button', { name: 'Delete Account' }).click();
}

test('the dialog says what is lost, keeps the focus and gives it back', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  for (const leave of [
    () => dialog(page).getByRole('button', { name: 'Cancel' }).click(),
    () => page.keyboard.press('Escape'),
  ]) {
    await remove(page).click();
    await expect(dialog(page)).toHaveAccessibleDescription(
      'This action cannot be undone. This will permanently delete your account, all your chat history, and cancel any active subscriptions.',
    );
    await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
    for (const name of ['Delete Account', 'Cancel']) {
      await page.keyboard.press('Tab');
      await expect(dialog(page).getByRole('button', { name })).toBeFocused();
    }
    await leave();
    await expect(dialog(page)).toHaveCount(0);
    await expect(remove(page)).toBeFocused();
  }
  expect(stub.calls('deleteMe')).toEqual([]);
});

for (const [answer, text] of [
  [{ success: true }, 'Account deleted successfully'],
  [{ success: true, message: 'Farewell.' }, 'Farewell.'],
] as const) {
  test(`the account is deleted: ${text}`, async ({ page, stub }) => {
    stub.respond('deleteMe', answer);
    const release = stub.hold('deleteMe');
    await stub.signedIn();
    await open(page, '/account');
    await confirm(page);
    await expect(page.getByText('Deleting account data...')).toBeVisible();
    release();
    await page.waitForURL('**/login');
    await expectNotices(page, ['Success', text]);
    expect(await storedToken(page)).toBeNull();
    await page.goBack();
    await expect(page.getByRole('region', { name: 'Account Management' })).toHaveCount(0);
  });
}

test('a failure keeps the account and says why', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
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
    await expectNotices(page, ['Error', text]);
    await dismissNotices(page);
    await expect(remove(page)).toBeEnabled();
  }
  expect(await storedToken(page)).toBe('e2e-token');
});
