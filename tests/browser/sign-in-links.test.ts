import { expectNotices, open, storedToken } from './support/page.ts';
import { profileOf, type Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const issue = ['Login Issue', 'Account status: suspended. Please contact support.'] as const;
const arrivals = [
  ['approved', '/account', []],
  [undefined, '/account', []],
  ['pending', '/pending-approval', []],
  ['suspended', '/', [issue]],
] as const;

for (const [status, to, told] of arrivals) {
  test(`an external token with the status ${status} leads to ${to}`, async ({ page, stub }) => {
    const user = profileOf({ status: status ?? null, tier: 'basic', used: 4, renewalDate: '2025-01-05T09:00:00.000Z' });
    stub.respond('verifyExternalToken', { success: true, token: 'e2e-external', user, ...(status && { status }) });
    await open(page, '/login#external_token=abc.def.ghi');
    await page.waitForURL((url) => url.pathname === to && url.hash === '');
    expect(stub.calls('verifyExternalToken')).toMatchObject([{ body: { token: 'abc.def.ghi' } }]);
    expect(await storedToken(page)).toBe('e2e-external');
    await expectNotices(page, ...told);
    if (to !== '/account') return;
    await expect(page.getByText('4 / 30')).toBeVisible();
    await expect(page.getByText('Renews on January 5, 2025')).toBeVisible();
    expect(stub.calls('getMe')).toEqual([]);
  });
}

test('an external token that is pasted into an open login page signs in as well', async ({ page, stub }) => {
  stub.respond('verifyExternalToken', {
    success: true,
    token: 'e2e-external',
    user: profileOf({}),
    status: 'approved',
  });
  await open(page, '/login');
  await page.evaluate(() => void (location.hash = 'external_token=abc.def.ghi'));
  await page.waitForURL((url) => url.pathname === '/account' && url.hash === '');
  expect(stub.calls('verifyExternalToken')).toMatchObject([{ body: { token: 'abc.def.ghi' } }]);
});

const externalFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [
    (stub) => stub.respond('verifyExternalToken', { message: 'Invalid or expired token' }, 401),
    'Invalid or expired token',
  ],
  [(stub) => stub.respond('verifyExternalToken', { success: false }), 'An unexpected error occurred during login.'],
  [(stub) => stub.respond('verifyExternalToken', { success: false, message: 'Used.' }), 'Used.'],
  [
    (stub) => stub.disconnect('verifyExternalToken'),
    'Unable to connect to server. Please check your internet connection.',
  ],
];

for (const [arrange, told] of externalFailures) {
  test(`an external token that fails leaves the login and says: ${told}`, async ({ page, stub }) => {
    arrange(stub);
    await open(page, '/login#external_token=abc');
    await expect(page.getByRole('main').getByRole('alert')).toHaveText(told);
    await expect(page.getByLabel('Phone number')).toBeVisible();
    await expectNotices(page);
    expect(await storedToken(page)).toBeNull();
    expect(new URL(page.url()).hash).toBe('');
  });
}

test('a trial link ends in the account', async ({ page, stub }) => {
  stub.respond('verifyTrialToken', { success: true, token: 'e2e-trial' });
  const release = stub.hold('verifyTrialToken');
  stub.person({ tier: 'premium', isTrial: true });
  await open(page, '/activate-trial?token=12345');
  await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
  release();
  await page.waitForURL('**/account');
  await expectNotices(page, ['Trial activated successfully! Welcome.']);
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
  [(stub) => stub.respond('verifyTrialToken', { message: 'An old link.' }, 401), 'An old link.'],
  [(stub) => stub.respond('verifyTrialToken', {}, 404), 'An unexpected error occurred during activation.'],
  [(stub) => stub.respond('verifyTrialToken', {}, 503), 'Server error. Please try again later.'],
  [
    (stub) => {
      stub.respond('verifyTrialToken', { success: true, token: 'e2e-trial' });
      stub.respond('getMe', { success: false });
    },
    'Login successful, but failed to fetch user profile.',
  ],
];

test('a link that fails says why, once, and ends the session', async ({ page, stub }) => {
  await open(page, '/plans');
  for (const [arrange, told] of trialFailures) {
    stub.person({});
    await page.evaluate(() => localStorage.setItem('authToken', 'e2e-old'));
    const release = stub.hold('verifyTrialToken');
    await open(page, '/activate-trial?token=t');
    await expect(page.getByRole('heading', { name: 'Activating Your Trial...' })).toBeVisible();
    arrange(stub);
    release();
    await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
    await expect(page.getByRole('main').getByText(told, { exact: true })).toBeVisible();
    await expectNotices(page);
    expect(await storedToken(page)).toBeNull();
  }
  await page.getByRole('link', { name: 'Go to Login' }).click();
  await page.waitForURL('**/login');
});

test('a link without its token makes no call', async ({ page, stub }) => {
  await open(page, '/activate-trial');
  await expect(page.getByRole('heading', { name: 'Activation Failed' })).toBeVisible();
  await expect(page.getByText('Activation token is missing. Please check the link.')).toBeVisible();
  expect(stub.calls('verifyTrialToken')).toEqual([]);
});
