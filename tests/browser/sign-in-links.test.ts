import type { Page } from 'playwright/test';
import { expectToasts, open, storedToken } from './support/page.ts';
import { profileOf, type Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const issue = ['Login Issue', 'Account status: suspended. Please contact support.'] as const;
const arrivals = [
  ['approved', '/account', []],
  ['suspended', '/', [issue]],
] as const;

for (const [status, to, told] of arrivals) {
  test(`an external token with the status ${status} leads to ${to}`, async ({ page, stub }) => {
    const user = profileOf({ status, tier: 'basic', used: 4, renewalDate: '2025-01-05T09:00:00.000Z' });
    stub.respond('verifyExternalToken', { success: true, token: 'e2e-external', user, status });
    await open(page, '/login#external_token=abc.def.ghi');
    await page.waitForURL((url) => url.pathname === to && url.hash === '');
    expect(stub.calls('verifyExternalToken')).toMatchObject([{ body: { token: 'abc.def.ghi' } }]);
    expect(await storedToken(page)).toBe('e2e-external');
    await expectToasts(page, ...told);
    if (to !== '/account') return;
    await expect(page.getByText('4 / 30')).toBeVisible();
    await expect(page.getByText('Renews on January 5, 2025')).toBeVisible();
    expect(stub.calls('getMe')).toEqual([]);
  });
}

const externalFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [
    (stub) => stub.respond('verifyExternalToken', { message: 'Invalid or expired token' }, 401),
    'Invalid or expired token',
  ],
  [(stub) => stub.respond('verifyExternalToken', { success: false }), 'An unexpected error occurred during login.'],
];

test('an external token that fails leaves the login and says why', async ({ page, stub }) => {
  await open(page, '/login');
  for (const [index, [arrange, told]] of externalFailures.entries()) {
    arrange(stub);
    // Pasted into the open page, it is read as well.
    await page.evaluate((token) => void (location.hash = `external_token=${token}`), `abc${index}`);
    await expect(page.getByRole('main').getByRole('alert')).toHaveText(told);
    await expect(page.getByLabel('Phone number')).toBeVisible();
    await expectToasts(page);
    expect(await storedToken(page)).toBeNull();
    expect(new URL(page.url()).hash).toBe('');
  }
});

test('a trial link ends in the account', async ({ page, stub }) => {
  stub.respond('verifyTrialToken', { success: true, token: 'e2e-trial' });
  const release = stub.hold('verifyTrialToken');
  stub.person({ tier: 'premium', isTrial: true });
  await open(page, '/activate-trial?token=12345');
  await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
  release();
  await page.waitForURL('**/account');
  await expectToasts(page, ['Trial activated successfully! Welcome.']);
  await expect(page.getByText('Free Trial')).toBeVisible();
  expect(await storedToken(page)).toBe('e2e-trial');
  expect(stub.calls('verifyTrialToken')).toMatchObject([{ body: { trialToken: '12345' } }]);
  expect(stub.calls('verifyTrialToken')[0]?.token).toBeUndefined();
});

const lost = 'Failed to activate trial. The link may be invalid or expired.';
const trialFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('verifyTrialToken', { success: false }), lost],
  [(stub) => stub.respond('verifyTrialToken', { success: true }), lost],
  [(stub) => stub.respond('verifyTrialToken', { success: false, message: 'Used before.' }), 'Used before.'],
  [(stub) => stub.respond('verifyTrialToken', {}, 404), 'An unexpected error occurred during activation.'],
  [
    (stub) => {
      stub.respond('verifyTrialToken', { success: true, token: 'e2e-trial' });
      stub.respond('getMe', { success: false });
    },
    'Login successful, but failed to fetch user profile.',
  ],
];

test('a link that fails says why, once, and ends the session; one without its token makes no call', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  for (const [arrange, told] of trialFailures) {
    stub.person({});
    const release = stub.hold('verifyTrialToken');
    await open(page, '/activate-trial?token=t');
    await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
    expect(await storedToken(page)).toBe('e2e-token');
    arrange(stub);
    release();
    await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
    await expect(page.getByRole('main').getByText(told, { exact: true })).toBeVisible();
    await expectToasts(page);
    expect(await storedToken(page)).toBeNull();
    await page.evaluate(() => localStorage.setItem('authToken', 'e2e-token'));
  }
  await page.evaluate(() => localStorage.clear());
  await page.getByRole('link', { name: 'Go to Login' }).click();
  await page.waitForURL('**/login');
  await open(page, '/activate-trial');
  await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
  await expect(page.getByText('Activation token is missing. Please check the link.')).toBeVisible();
  expect(stub.calls('verifyTrialToken')).toHaveLength(trialFailures.length);
});

/** A token in three parts, of a user. */
const tokenOf = (sub: string) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part({ sub, exp: 4_000_000_000 })}.${Buffer.from(sub).toString('base64url')}`;
};
const switched =
  'You are now signed in as +1 555-765-4321. The account that was signed in here before has been signed out.';

test.describe('a trial link over the session of another number', () => {
  const notice = (page: Page) => page.getByRole('status').filter({ hasText: switched });
  test.beforeEach(async ({ page, stub }) => {
    await stub.signedIn({ isTrial: true, phoneNumber: '+15557654321' }, tokenOf('one'));
    stub.respond('verifyTrialToken', { success: true, token: tokenOf('other') });
    await open(page, '/activate-trial?token=t');
    await page.waitForURL('**/account');
    await expect(notice(page)).toBeVisible();
  });

  test('says whose account this is now, on every page and after a reload, until it is dismissed', async ({
    page,
    stub,
  }) => {
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await expect(notice(page)).toBeVisible();
    await open(page, '/plans');
    await expect(notice(page)).toBeVisible();
    expect(await page.evaluate(() => Object.values(sessionStorage))).not.toContain(tokenOf('other'));
    await expect.poll(() => stub.calls('logout').map(({ token }) => token)).toEqual([`Bearer ${tokenOf('one')}`]);

    await notice(page).getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice(page)).toHaveCount(0);
    await open(page, '/account');
    await expect(page.getByRole('main').getByText('+1 555-765-4321')).toBeVisible();
    await expect(notice(page)).toHaveCount(0);
  });

  test('says it until somebody signs in by code', async ({ page, stub }) => {
    const message = 'Please sign in with a code to see this.';
    stub.respond('getSessions', { success: false, code: 'sign_in_needed', message }, 403);
    stub.respond('verifyOtp', { success: true, token: `${tokenOf('other')}full`, status: 'approved' });
    await page.getByRole('button', { name: 'Sessions' }).click();
    await page.waitForURL('**/login');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByLabel('Verification code').fill('123456');
    await page.getByRole('button', { name: 'Verify Code', exact: true }).click();
    await page.waitForURL('**/account');
    await expect(page.getByRole('main').getByText('+1 555-765-4321')).toBeVisible();
    await expect(notice(page)).toHaveCount(0);
    await open(page, '/account');
    await expect(page.getByRole('main').getByText('+1 555-765-4321')).toBeVisible();
    await expect(notice(page)).toHaveCount(0);
  });
});

test('a trial link over a session of the same number says nothing of the kind', async ({ page, stub }) => {
  stub.respond('verifyTrialToken', { success: true, token: `${tokenOf('one')}x` });
  await stub.signedIn({}, tokenOf('one'));
  await open(page, '/activate-trial?token=t');
  await page.waitForURL('**/account');
  await expectToasts(page, ['Trial activated successfully! Welcome.']);
  await expect(page.getByText('You are now signed in as')).toHaveCount(0);
});

test('a call that needs a code leads to the login with the number filled in', async ({ page, stub }) => {
  await stub.signedIn({ isTrial: true });
  const message = 'Please sign in with a code to see this.';
  stub.respond('getSessions', { success: false, code: 'sign_in_needed', message }, 403);
  stub.respond('verifyOtp', { success: true, token: 'e2e-full', status: 'approved' });
  await open(page, '/account');
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.waitForURL('**/login');
  await expectToasts(page, [message]);
  await expect(page.getByLabel('Phone number')).toHaveValue('+15551234567');
  expect(await storedToken(page)).toBe('e2e-token');
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByLabel('Verification code').fill('123456');
  await page.getByRole('button', { name: 'Verify Code', exact: true }).click();
  await page.waitForURL('**/account');
  expect(await storedToken(page)).toBe('e2e-full');
});
