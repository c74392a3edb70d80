import { jwt } from './support/jwt.ts';
import { spoil } from './support/shared-contexts.ts';
import { expect, expectNotices, installClock, open, stopTime, storedToken, test } from './support/stubbed.ts';

const now = Date.parse('2025-01-01T12:00:00Z') / 1000;
const expired = jwt({ exp: now - 1 });
const unreadable = 'three.odd.parts';
const usable = [
  ['one that has not ended', jwt({ exp: now + 60 })],
  ['one without an end', jwt({ sub: 'u' })],
  ['one of two parts', expired.split('.').slice(0, 2).join('.')],
  ['one that cannot be read', unreadable],
  ['an ended one that holds test-token', `test-token${expired}`],
  ['an ended one that starts with e2e-', `e2e-${expired}`],
] as const;

test('a stored token is used unless it says that it has ended', async ({ page, stub }) => {
  await stopTime(page);
  await open(page, '/plans');
  for (const [what, token] of usable) {
    await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
    await page.goto('/account');
    await expect(page.getByRole('button', { name: 'Logout' }), what).toBeVisible();
    expect(stub.calls('getMe').at(-1)?.token).toBe(`Bearer ${token}`);
  }
});

for (const [what, token] of [
  ['ended a second ago', expired],
  ['ends now', jwt({ exp: now })],
  ['holds e2e- in its midst', `xe2e-${expired}`],
] as const) {
  test(`a token that ${what} is refused and removed`, async ({ page, stub }) => {
    await installClock(page, { time: now * 1000 });
    await stub.signedIn({}, token);
    await open(page, '/account');
    await page.waitForURL('**/login');
    await expectNotices(page, ['Your session has expired. Please log in again.']);
    expect(await storedToken(page)).toBeNull();
    expect(stub.calls('getMe')).toEqual([]);
  });
}

for (const [host, path] of [
  ['solace.example', '/login'],
  ['solace.test', '/plans'],
] as const) {
  test(`an ended token on ${host} ends in ${path}`, async ({ page, baseURL, stub }) => {
    spoil(page);
    await page.route(`https://${host}/**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({ response: await route.fetch({ url: baseURL + pathname }) });
    });
    await stub.signedIn({}, jwt({ exp: 1 }));
    await page.goto(`https://${host}/plans`);
    await expectNotices(page, ['Your session has expired. Please log in again.']);
    await page.waitForURL(`https://${host}${path}`);
    expect(await storedToken(page)).toBeNull();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
}

test('a token that ends while the account is open leads away from it', async ({ page, stub }) => {
  await installClock(page, { time: now * 1000 });
  await stub.signedIn({}, jwt({ exp: now + 600 }));
  await open(page, '/account');
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  // Fires no timer, so that the click is the first to find the end.
  await page.clock.setSystemTime((now + 600) * 1000);
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await expect(page.getByText('Loading user data...')).toBeVisible();
  await expectNotices(page, ['Your session has expired. Please log in again.']);
  expect(await storedToken(page)).toBeNull();
  expect(stub.calls('createPortalSession')).toEqual([]);
});

test('a protected call without a stored token shows the login notice', async ({ page, stub }) => {
  await stub.signedIn();
  await open(page, '/account');
  // Waits for the page's own calls, so that only one call is left to fail.
  await expect(page.getByRole('radio').first()).toBeVisible();
  await expect.poll(() => stub.calls('usageStream').length).toBe(1);
  await page.evaluate(() => localStorage.removeItem('authToken'));
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await expectNotices(page, ['Please log in to continue']);
  expect(stub.calls('createPortalSession')).toEqual([]);
});
