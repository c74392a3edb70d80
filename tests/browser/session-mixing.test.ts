import type { Page } from 'playwright/test';
import { deleteAccount, expectToasts, open, settle, storedToken, takeToasts } from './support/page.ts';
import { jwt, profileOf, type Stub } from './support/stub.ts';
import { expect, stubbed as test } from './support/test.ts';

const phoneA = '+15551111111';
const phoneB = '+15552222222';
const shownA = '+1 555-111-1111';
const shownB = '+1 555-222-2222';
const nextYear = Math.floor(Date.now() / 1000) + 31_536_000;
const responseA = { success: true, profile: profileOf({ phoneNumber: phoneA }) };
const responseB = { success: true, profile: profileOf({ phoneNumber: phoneB }) };

const external = { success: true, token: 'e2e-b', user: responseB.profile, status: 'approved' };

/** Starts with the first person's session; each token belongs to its own number. */
async function twoPeople(stub: Stub): Promise<void> {
  await stub.signedIn({}, 'e2e-a');
  stub.respondByToken('getMe', { 'e2e-a': responseA, 'e2e-b': responseB });
  stub.respond('verifyExternalToken', external);
}

/** Stores the second person's token in another tab, and waits until the page shows that person. */
async function switchInOtherTab(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await other.goto('/plans');
  await other.evaluate(() => localStorage.setItem('authToken', 'e2e-b'));
  await expect(main(page).getByText(shownB)).toBeVisible();
}

const main = (page: Page) => page.getByRole('main');
const revoked = (stub: Stub) => stub.calls('logout').map(({ token }) => token);

for (const [late, name, button] of [
  ['profile', 'getMe', 'Refresh plan'],
  ['401', 'createPortalSession', 'Billing Management'],
] as const)
  test(`a late ${late} of an ended session changes nothing of the next one`, async ({ page, stub }) => {
    await twoPeople(stub);
    stub.respond('createPortalSession', { message: 'Over.' }, 401);
    await open(page, '/account');
    // The first toast loads the part that shows toasts, so that a wrong one would be seen at once.
    await page.getByRole('button', { name: 'Refresh plan' }).click();
    await takeToasts(page, ['Success', 'Profile refreshed successfully']);
    const release = stub.hold(name, 'e2e-a');
    await page.getByRole('button', { name: button }).click();
    await settle(page);
    await switchInOtherTab(page);
    release();
    await settle(page);
    await expect(main(page).getByText(shownB)).toBeVisible();
    await expect(page.getByText(shownA)).toHaveCount(0);
    expect(await storedToken(page)).toBe('e2e-b');
    await expectToasts(page);
  });

test('an account that was deleted in an ended session leaves the new session alone', async ({ page, stub }) => {
  await twoPeople(stub);
  stub.respond('deleteMe', { success: true });
  await open(page, '/account');
  const release = stub.hold('deleteMe');
  await deleteAccount(page);
  await settle(page);
  await switchInOtherTab(page);
  release();
  await settle(page);
  await expect(main(page).getByText(shownB)).toBeVisible();
  expect(await storedToken(page)).toBe('e2e-b');
});

test('an external token over the session of another number asks first', async ({ page, stub }) => {
  await twoPeople(stub);
  const dialog = page.getByRole('alertdialog', { name: 'Switch account?' });
  const openLink = async (phone: string) => {
    await page.goto('/plans');
    await page.goto(`/login#external_token=${jwt({ phone_number: phone, exp: nextYear })}`);
  };
  const choose = async (name: string, shown: string) => {
    await openLink(phoneB);
    for (const number of [shownA, shownB]) await expect(dialog).toContainText(number);
    expect(new URL(page.url()).hash).toBe('');
    await dialog.getByRole('button', { name }).click();
    await page.waitForURL('**/account');
    await expect(main(page).getByText(shown)).toBeVisible();
  };
  await choose('Stay signed in', shownA);
  expect(stub.calls('verifyExternalToken')).toEqual([]);

  stub.respond('verifyExternalToken', { success: false, message: 'Invalid or expired token' }, 401);
  await choose('Switch account', shownA);
  await expectToasts(page, ['Invalid or expired token']);
  expect(await storedToken(page)).toBe('e2e-a');
  expect(revoked(stub)).toEqual([]);

  stub.respond('verifyExternalToken', external);
  await choose('Switch account', shownB);
  await expect(page.getByText(shownA)).toHaveCount(0);
  expect(await storedToken(page)).toBe('e2e-b');
  await expect.poll(() => revoked(stub)).toEqual(['Bearer e2e-a']);

  await openLink(phoneB);
  await page.waitForURL('**/account');
  expect(stub.calls('verifyExternalToken')).toHaveLength(3);
});
