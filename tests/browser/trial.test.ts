import type { Stub } from './support/stub.ts';
import { expect, expectNotices, open, storedToken, test } from './support/stubbed.ts';

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
const failures: [arrange: (stub: Stub) => void, told: string][] = [
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
  for (const [arrange, told] of failures) {
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
