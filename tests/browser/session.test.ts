import type { Page } from 'playwright/test';
import { chat, messageOf, pageOf, send } from './support/chat.ts';
import { spoil } from './support/contexts.ts';
import { watchFirstPaint } from './support/first-paint.ts';
import {
  expectToasts,
  installClock,
  open,
  openAccount,
  settle,
  stopTime,
  storedToken,
  deleteAccount,
  takeToasts,
  follow,
} from './support/page.ts';
import { jwt, over, type Stub, profileOf } from './support/stub.ts';
import { expect, fullUnless, stubbed as test } from './support/test.ts';

test('a guest who opens the account sees nothing of it, and makes no call', async ({
  page,
  stub,
}) => {
  const { seen } = await watchFirstPaint(page);
  for (const path of ['/account', '/pending-approval']) {
    await page.goto(path);
    await page.waitForURL('**/login');
    expect(await seen()).not.toMatch(/My Account|Account Pending/);
  }
  expect(stub.calls()).toEqual([]);
});

const starts: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('getMe', over, 401), 'Session expired. Please log in again.'],
  [
    (stub) => stub.respond('getMe', {}, 404),
    'An unexpected error occurred while fetching user data.',
  ],
  [(stub) => stub.respond('getMe', { success: false }), 'Failed to fetch user profile data.'],
  [
    (stub) =>
      stub.respond('getMe', {
        success: false,
        message: 'Nobody is here.',
      }),
    'Nobody is here.',
  ],
];

test(
  'a start without a profile leads to the login, and says why, once',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn();
    for (const [arrange, told] of starts) {
      arrange(stub);
      await page.goto('/account');
      await page.waitForURL('**/login');
      await expectToasts(page, [told]);
      expect(await storedToken(page), told).toBeNull();
      await expect(
        page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Login' }),
      ).toBeVisible();
      await page.evaluate(() => localStorage.setItem('authToken', 'e2e-token'));
    }
  },
);

const outages: [path: string, arrange: (stub: Stub) => void, told: string][] = [
  ['/account', (stub) => stub.respond('getMe', {}, 503), 'Server error. Please try again later.'],
  [
    '/chat',
    (stub) => stub.disconnect('getMe'),
    'Unable to connect to server. Please check your internet connection.',
  ],
];

type Fixtures = { stub: Stub; expectedErrors: RegExp[] };

/** A token is stored, and nobody can say whose it is. */
async function beginOutage({ stub, expectedErrors }: Fixtures, arrange: (stub: Stub) => void) {
  expectedErrors.push(/account unreached/);
  await stub.signedIn();
  arrange(stub);
}

const unreached = 'We cannot load your account right now';

for (const [path, arrange, told] of outages)
  test(
    `an outage at ${path} is no logout: it is told once, and the page goes on by itself`,
    { tag: '@full' },
    async ({ page, stub, expectedErrors }) => {
      await beginOutage({ stub, expectedErrors }, arrange);
      stub.respond('getChat', pageOf([messageOf(1, 'I am still here')]));
      await open(page, path);
      const screen = page.getByRole('heading', { name: unreached });
      await expect(page).toHaveTitle(`${unreached} | Solace`);
      const navigation = page.getByRole('navigation', { name: 'Main' });
      await expect(screen).toBeVisible();
      await expect(page).toHaveURL(path);
      await expectToasts(page, [told]);
      await expect(navigation.getByRole('link', { name: 'My Account' })).toBeVisible();
      await expect(
        page.getByRole('main').getByRole('link', { name: 'Get help now' }),
      ).toBeVisible();

      const before = stub.calls('getMe').length;
      await expect.poll(() => stub.calls('getMe').length).toBeGreaterThan(before + 2);
      await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
      expect(await storedToken(page)).toBe('e2e-token');

      await stub.signedIn();
      await page.evaluate(() => dispatchEvent(new Event('online')));
      await expect(screen).toHaveCount(0);
      await expect(page).not.toHaveTitle(`${unreached} | Solace`);
      const content =
        path === '/chat' ? chat.message(page, 'I am still here') : page.getByRole('radio').first();
      await expect(content).toBeVisible();
      await expect(page).toHaveURL(path);
    },
  );

test('an outage leaves public pages their member, and a pressed button tries at once', async ({
  page,
  stub,
  expectedErrors,
}) => {
  await beginOutage({ stub, expectedErrors }, () => stub.respond('getMe', {}, 503));
  await installClock(page);
  await open(page, '/');
  const account = page.getByRole('navigation', { name: 'Main' }).getByRole('link', {
    name: 'My Account',
  });
  await follow(account, '**/account');
  const again = page.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible();
  expect(await storedToken(page)).toBe('e2e-token');

  // The page tries by itself, too, until its clock stands still; what it has tried last ends after a second.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 3_600_000));
  await settle(page);
  await page.clock.runFor(1000);
  await settle(page);
  const before = stub.calls('getMe').length;
  stub.respond('getMe', over, 401);
  await again.click();
  await expect.poll(() => stub.calls('getMe').length).toBe(before + 1);
  await page.clock.resume();
  await page.waitForURL('**/login');
  expect(await storedToken(page)).toBeNull();
});

test(
  'a call without a token or with an ended session is shown once and leads to the login',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openAccount(page, stub);
    // Waits for the page's own calls, so that only one call is left to fail.
    await expect(page.getByRole('radio').first()).toBeVisible();
    await expect.poll(() => stub.calls('usageStream').length).toBe(1);
    const button = page.getByRole('button', { name: 'Billing Management' });
    await page.evaluate(() => localStorage.removeItem('authToken'));
    await button.click();
    await expectToasts(page, ['Please log in to continue']);
    expect(stub.calls('createPortalSession')).toEqual([]);

    await page.evaluate(() => localStorage.setItem('authToken', 'e2e-token'));
    await open(page, '/account');
    stub.respond('createPortalSession', over, 401);
    await follow(button, '**/login');
    await expectToasts(page, ['Session expired. Please log in again.']);
    expect(await storedToken(page)).toBeNull();
    await settle(page);
    expect(stub.calls('createPortalSession')).toHaveLength(1);
  },
);

for (const [host, path] of Object.entries({
  'solace.example': '/login',
  'solace.test': '/plans',
}))
  test(
    `an ended token on ${host} ends in ${path}`,
    { tag: '@full' },
    async ({ page, baseURL, stub }) => {
      spoil(page);
      await page.route(`https://${host}/**`, async (route) => {
        const { pathname } = new URL(route.request().url());
        // The stub sees the cookies of a request that is made here.
        if (pathname === '/api/country') return route.fulfill({ json: { success: true } });
        return route.fulfill({ response: await route.fetch({ url: baseURL + pathname }) });
      });
      await stub.signedIn({}, jwt({ exp: 1 }));
      await page.goto(`https://${host}/plans`);
      await expectToasts(page, ['Your session has expired. Please log in again.']);
      await page.waitForURL(`https://${host}${path}`);
      expect(await storedToken(page)).toBeNull();
      expect(stub.calls('getMe')).toEqual([]);
      // Nothing may be asked of that host once no route serves it.
      await page.goto('about:blank');
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
  );

test('a redirect before the page is hydrated shows the next page without an error', async ({
  page,
  stub,
}) => {
  spoil(page);
  await page.addInitScript(holdScheduler);
  await stub.signedIn();
  stub.respond('getMe', over, 401);
  await page.goto('/plans');
  await page.waitForURL('**/login');
  await page.evaluate(() => dispatchEvent(new Event('release')));
  await expect(page.getByLabel('Phone number')).toBeVisible();
  await expectToasts(page, ['Session expired. Please log in again.']);
});

/** Holds the tasks of React's scheduler, which come through a message channel, until the page gets a "release" event. */
function holdScheduler(): void {
  const released = new Promise((resolve) => addEventListener('release', resolve, { once: true }));
  const original = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')!;
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    set(this: MessagePort, listener: (event: MessageEvent) => void) {
      original.set!.call(
        this,
        (event: MessageEvent) => void released.then(() => listener.call(this, event)),
      );
    },
  });
}

test(
  'parts that load beside the page are missed once, and nothing ends',
  { tag: '@full' },
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    await stopTime(page);
    await stub.signedIn();
    for (const part of ['page-heads', 'session-stream'])
      await page.route(`**/${part}.js`, (route) => route.fulfill({ status: 404 }));
    await open(page, '/account');
    await page.getByRole('link', { name: 'Get help now' }).first().click();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
    expect(stub.calls('usageStream')).toEqual([]);
    await page.unrouteAll();
    await page.clock.runFor(10_000);
    await expect.poll(() => stub.calls('usageStream').length).toBe(1);
  },
);

test('a stored token is used until it ends, which leads away from the account', async ({
  page,
  stub,
}) => {
  const now = Date.parse('2025-01-01T12:00:00Z') / 1000;
  await stopTime(page);
  await stub.signedIn({}, jwt({ exp: now + 600 }));
  await open(page, '/account');
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  // No timer runs and no call of the page is left, so that the click is the first to find the end.
  await settle(page);
  await page.clock.setSystemTime((now + 600) * 1000);
  await page.getByRole('button', { name: 'Billing Management' }).click();
  await page.clock.resume();
  await expect(page.getByText('Loading user data...')).toBeVisible();
  await expectToasts(page, ['Your session has expired. Please log in again.']);
  expect(await storedToken(page)).toBeNull();
  expect(stub.calls('createPortalSession')).toEqual([]);
});

const phoneA = '+15551111111';
const phoneB = '+15552222222';
const shownA = '+1 555-111-1111';
const shownB = '+1 555-222-2222';
const nextYear = Math.floor(Date.now() / 1000) + 31_536_000;
const responseTo = (phoneNumber: string) => ({
  success: true,
  profile: profileOf({ phoneNumber }),
});
const external = {
  success: true,
  token: 'e2e-b',
  user: profileOf({ phoneNumber: phoneB }),
  status: 'approved',
};

/** Starts with the first person's session; each token belongs to its own number. */
async function twoPeople(stub: Stub): Promise<void> {
  await stub.signedIn({}, 'e2e-a');
  stub.respondByToken('getMe', {
    'e2e-a': responseTo(phoneA),
    'e2e-b': responseTo(phoneB),
  });
  stub.respond('verifyExternalToken', external);
}

/** Stores the second person's token in another tab, and waits until the page shows what is that person's. */
async function switchInOtherTab(page: Page, shown = main(page).getByText(shownB)): Promise<void> {
  const other = await page.context().newPage();
  await other.goto('/plans');
  await other.evaluate(() => localStorage.setItem('authToken', 'e2e-b'));
  await expect(shown).toBeVisible();
}

const main = (page: Page) => page.getByRole('main');
const revoked = (stub: Stub) => stub.calls('logout').map(({ token }) => token);

const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click();

for (const [late, name, act] of [
  ['profile', 'getMe', press('Refresh plan')],
  ['401', 'createPortalSession', press('Billing Management')],
  ['deletion', 'deleteMe', deleteAccount],
] as const)
  test(
    `a late ${late} of an ended session changes nothing of the next one`,
    fullUnless(late === 'profile'),
    async ({ page, stub }) => {
      await twoPeople(stub);
      stub.respond('createPortalSession', over, 401);
      stub.respond('deleteMe', { success: true });
      await open(page, '/account');
      // The first toast loads the part that shows toasts, so that a wrong one would be seen at once.
      await press('Refresh plan')(page);
      await takeToasts(page, ['Success', 'Profile refreshed successfully']);
      const release = stub.hold(name, 'e2e-a');
      await act(page);
      await settle(page);
      await switchInOtherTab(page);
      release();
      await settle(page);
      await expect(main(page).getByText(shownB)).toBeVisible();
      await expect(page.getByText(shownA)).toHaveCount(0);
      expect(await storedToken(page)).toBe('e2e-b');
      await expectToasts(page);
    },
  );

test(
  'a message that an ended session could not send does not reach the next one',
  { tag: '@full' },
  async ({ page, stub }) => {
    await twoPeople(stub);
    stub.respondByToken('getChat', {
      'e2e-a': pageOf([]),
      'e2e-b': pageOf([messageOf(1, 'Written by the second')]),
    });
    stub.respond('sendMessage', over, 401);
    const release = stub.hold('sendMessage', 'e2e-a');
    await page.goto('/chat');
    await send(page, 'Written by the first');
    await expect(chat.message(page, 'Written by the first')).toBeVisible();
    await switchInOtherTab(page, chat.message(page, 'Written by the second'));
    release();
    await settle(page);
    await expect(chat.field(page)).toHaveValue('');
    expect(await storedToken(page)).toBe('e2e-b');
  },
);

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
    await follow(dialog.getByRole('button', { name }), '**/account');
    await expect(dialog).toBeHidden();
    // The closed dialog, which names both, leaves with its page.
    await expect(main(page).getByText(shown)).toHaveCount(1);
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
