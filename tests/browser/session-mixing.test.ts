import type { Page } from 'playwright/test';
import { expectToasts, open, openAccount, settle, storedToken } from './support/page.ts';
import { jwt, profileOf, type Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const phoneA = '+15551111111';
const phoneB = '+15552222222';
const shownA = '+1 555-111-1111';
const shownB = '+1 555-222-2222';
const nextYear = Math.floor(Date.now() / 1000) + 31_536_000;
const externalTokenOf = (phone: string) => jwt({ phone_number: phone, exp: nextYear });

/** Starts with the first person's session; each token belongs to its own number. */
async function twoPeople(stub: Stub): Promise<void> {
  await stub.signedIn({}, 'e2e-a');
  stub.respondByToken('getMe', {
    'e2e-a': { success: true, profile: profileOf({ phoneNumber: phoneA }) },
    'e2e-b': { success: true, profile: profileOf({ phoneNumber: phoneB, tier: 'premium', isTrial: true }) },
  });
  stub.respond('verifyTrialToken', { success: true, token: 'e2e-b' });
  stub.respond('verifyExternalToken', {
    success: true,
    token: 'e2e-b',
    user: profileOf({ phoneNumber: phoneB }),
    status: 'approved',
  });
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

test('a profile that arrives after the logout does not restore the session', async ({ page, stub }) => {
  await openAccount(page, stub);
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  const release = stub.hold('getMe');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await settle(page);
  await page.getByRole('button', { name: 'Logout' }).click();
  await page.waitForURL('**/login');
  await expectToasts(page, ['Logged out successfully']);
  release();
  await settle(page);
  await expect(page.getByRole('link', { name: 'Login', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await expect(page.getByRole('link', { name: 'My Account' })).toHaveCount(0);
  expect(await storedToken(page)).toBeNull();
});

test('a 401 of the ended session does not end the session of a trial link', async ({
  page,
  context,
  stub,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 401/);
  await twoPeople(stub);
  await open(page, '/account');
  await expect(main(page).getByText(shownA)).toBeVisible();
  stub.respondByToken('getMe', {
    'e2e-a': null,
    'e2e-b': { success: true, profile: profileOf({ phoneNumber: phoneB, isTrial: true, tier: 'premium' }) },
  });
  const release = stub.holdToken('getMe', 'e2e-a');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await settle(page);
  const other = await context.newPage();
  await other.goto('/activate-trial?token=link');
  await other.waitForURL('**/account');
  await expect(main(page).getByText(shownB)).toBeVisible();
  release();
  await settle(page);
  for (const tab of [page, other]) await expect(main(tab).getByText(shownB)).toBeVisible();
  expect(await storedToken(page)).toBe('e2e-b');
  await expectToasts(page);
  expect(revoked(stub)).toEqual(['Bearer e2e-a']);
});

test('the trial token leaves the address bar before the first call', async ({ page, stub }) => {
  await stub.signedIn();
  const addresses: string[] = [];
  await page.exposeFunction('noteAddress', (address: string) => void addresses.push(address));
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = async (input, init) => {
      await (window as unknown as { noteAddress: (address: string) => Promise<void> }).noteAddress(location.href);
      return real(input, init);
    };
  });
  stub.respond('verifyTrialToken', { success: false });
  await page.goto('/activate-trial?token=secret');
  await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => address.includes('secret'))).toEqual([]);
  expect(stub.calls('verifyTrialToken')).toMatchObject([{ body: { trialToken: 'secret' } }]);
});

test('one number never shows under the token of another, in two tabs', async ({ page, stub }) => {
  await twoPeople(stub);
  await open(page, '/account');
  await expect(main(page).getByText(shownA)).toBeVisible();
  const release = stub.holdToken('getMe', 'e2e-a');
  await page.getByRole('button', { name: 'Refresh plan' }).click();
  await settle(page);
  await switchInOtherTab(page);
  release();
  await settle(page);
  await expect(main(page).getByText(shownB)).toBeVisible();
  await expect(page.getByText(shownA)).toHaveCount(0);
  expect(stub.calls('putPlatform')).toEqual([]);
});

test('an account that was deleted in an ended session leaves the new session alone', async ({ page, stub }) => {
  await twoPeople(stub);
  stub.respond('deleteMe', { success: true });
  await open(page, '/account');
  const release = stub.hold('deleteMe');
  await main(page).getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete Account' }).click();
  await settle(page);
  await switchInOtherTab(page);
  release();
  await settle(page);
  await expect(main(page).getByText(shownB)).toBeVisible();
  expect(await storedToken(page)).toBe('e2e-b');
});

test.describe('an external token over the session of another number', () => {
  const ask = async (page: Page, stub: Stub) => {
    await twoPeople(stub);
    await page.goto(`/login#external_token=${externalTokenOf(phoneB)}`);
    const dialog = page.getByRole('alertdialog', { name: 'Switch account?' });
    await expect(dialog).toContainText(shownA);
    await expect(dialog).toContainText(shownB);
    expect(stub.calls('verifyExternalToken')).toEqual([]);
    expect(new URL(page.url()).hash).toBe('');
    return dialog;
  };

  test('keeps the session if the person stays', async ({ page, stub }) => {
    const dialog = await ask(page, stub);
    await dialog.getByRole('button', { name: 'Stay signed in' }).click();
    await page.waitForURL('**/account');
    await expect(main(page).getByText(shownA)).toBeVisible();
    expect(stub.calls('verifyExternalToken')).toEqual([]);
    expect(revoked(stub)).toEqual([]);
    expect(await storedToken(page)).toBe('e2e-a');
  });

  test('replaces the session if the person switches, and ends it at the server', async ({ page, stub }) => {
    const dialog = await ask(page, stub);
    await dialog.getByRole('button', { name: 'Switch account' }).click();
    await page.waitForURL('**/account');
    await expect(main(page).getByText(shownB)).toBeVisible();
    await expect(page.getByText(shownA)).toHaveCount(0);
    expect(await storedToken(page)).toBe('e2e-b');
    await expect.poll(() => revoked(stub)).toEqual(['Bearer e2e-a']);
  });

  test('keeps the session if the token is refused', async ({ page, stub }) => {
    const dialog = await ask(page, stub);
    stub.respond('verifyExternalToken', { success: false, message: 'Invalid or expired token' }, 401);
    await dialog.getByRole('button', { name: 'Switch account' }).click();
    await page.waitForURL('**/account');
    await expectToasts(page, ['Invalid or expired token']);
    await expect(main(page).getByText(shownA)).toBeVisible();
    expect(await storedToken(page)).toBe('e2e-a');
  });

  test('does not ask where the number is the same', async ({ page, stub }) => {
    await twoPeople(stub);
    await page.goto(`/login#external_token=${externalTokenOf(phoneA)}`);
    await page.waitForURL('**/account');
    expect(stub.calls('verifyExternalToken')).toHaveLength(1);
    await expect.poll(() => revoked(stub)).toEqual(['Bearer e2e-a']);
  });
});
