import { returnToTab, expect, expectNotices, open, storedToken, test } from './support/stubbed.ts';

test('a pending user sees the pending page, and can log out', async ({ page, stub }) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  const main = page.getByRole('main');
  await expect(main).toContainText('The account for +1 555-123-4567 awaits approval.');
  await expect(main).toContainText('You will be notified through your preferred messaging platform');
  await main.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await expectNotices(page, ['Logged out successfully']);
  expect(await storedToken(page)).toBeNull();
});

test('a user approved meanwhile gets to the account on returning', async ({ page, stub }) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  stub.person({ status: 'approved' });
  await returnToTab(page);
  await page.waitForURL('**/account');
});

test('a user set back to pending is redirected from the account', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  const refused = { success: false, code: 'pending_approval', message: 'Your account is awaiting approval.' };
  stub.respond('createPortalSession', refused, 403);
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await page.waitForURL('**/pending-approval');
  await expectNotices(page);
});
