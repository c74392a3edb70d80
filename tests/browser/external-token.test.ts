import { profileOf } from './support/person.ts';
import type { Stub } from './support/stub.ts';
import { expect, expectNotices, open, storedToken, test } from './support/stubbed.ts';

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

const failures: [arrange: (stub: Stub) => void, told: string][] = [
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

for (const [arrange, told] of failures) {
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
