import type { Page } from 'playwright/test';
import {
  dismissToasts,
  expectToasts,
  installClock,
  open,
  settle,
  shownToasts,
  stopTime,
  storedToken,
} from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

/** The parts of the login screen. */
const login = {
  phone: (page: Page) => page.getByLabel('Phone number'),
  send: (page: Page) => page.getByRole('button', { name: /^(Send|Resend) Verification Code$/ }),
  code: (page: Page) => page.getByLabel('Verification code'),
  verify: (page: Page) => page.getByRole('button', { name: 'Verify Code', exact: true }),
  wait: (page: Page, seconds: number) => page.getByRole('button', { name: `Wait ${seconds}s to try again` }),
  alert: (page: Page) => page.getByRole('main').getByRole('alert'),
};

/** Requests a code, which opens the code step. */
async function askForCode(page: Page, path = '/login'): Promise<void> {
  await open(page, path);
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  await login.code(page).waitFor();
}

async function enterCode(page: Page, code = '123456'): Promise<void> {
  await login.code(page).fill(code);
  await login.verify(page).click();
}

const sent = ['Code sent!', 'Check your messages for the verification code'] as const;
const tooShort = 'Phone number must be at least 10 digits';
const noCountry = 'Please include country code (e.g., +1234567890)';
const refused = [
  ['', tooShort],
  ['+12345678', tooShort],
  ['123456789', tooShort],
  ['1234567890', noCountry],
  ['+0123456789', noCountry],
  ['+1234567890123456', noCountry],
  ['+12345abc90', noCountry],
] as const;

const accepted = [
  ['+123456789', '+123456789'],
  ['+123456789012345', '+123456789012345'],
  ['+1 (555) 123-4567', '+15551234567'],
] as const;

const phoneFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('requestOtp', { success: false, message: 'Not today.' }), 'Not today.'],
  [(stub) => stub.respond('requestOtp', { success: false }), 'Failed to send verification code. Please try again.'],
  [(stub) => stub.respond('requestOtp', { message: 'No such country.' }, 400), 'No such country.'],
  [(stub) => stub.respond('requestOtp', {}, 404), 'Failed to request OTP'],
  [(stub) => stub.respond('requestOtp', {}, 429), 'Too many requests. Please try again later.'],
  [(stub) => stub.respond('requestOtp', {}, 503), 'Server error. Please try again later.'],
  [(stub) => stub.disconnect('requestOtp'), 'Network error. Please check your connection and try again.'],
];

test('a number that breaks a rule is not sent, and a failure to send a code is shown once, beside it', async ({
  page,
  stub,
}) => {
  await open(page, '/login');
  await expect(page.getByRole('button', { name: 'Send Verification Code', exact: true })).toBeEnabled();
  for (const [typed, rule] of refused) {
    await login.phone(page).fill(typed);
    await expect(login.phone(page)).not.toHaveAttribute('aria-invalid', 'true');
    await login.send(page).click();
    await expect(login.phone(page)).toHaveAccessibleErrorMessage(rule);
    await expect(login.phone(page)).toHaveAttribute('aria-invalid', 'true');
    await expect(login.phone(page)).toBeFocused();
  }
  await settle(page);
  expect(stub.calls('requestOtp')).toEqual([]);

  await login.phone(page).fill('+15551234567');
  for (const [arrange, told] of phoneFailures) {
    arrange(stub);
    await login.send(page).click();
    await expect(login.alert(page)).toHaveText(told);
    await expect(page.getByRole('button', { name: 'Resend Verification Code', exact: true })).toBeEnabled();
  }
  await expectToasts(page);
});

test('a number that never wrote is asked to write first', async ({ page, stub }) => {
  stub.respond('requestOtp', { success: false, requiresInitialContact: true, message: 'Write first.' });
  await open(page, '/login?plan=basic');
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
  const link = page.getByRole('main').getByRole('link', { name: 'Message Solace on WhatsApp' });
  const { origin, searchParams } = new URL((await link.getAttribute('href'))!);
  expect(origin).toBe('https://wa.me');
  expect(searchParams.get('text')).toMatch(/^Hi Solace! .*15551234567/);
  expect(searchParams.get('text')).not.toContain('+');
  await page.getByRole('button', { name: 'Try a Different Number' }).click();
  await expect(login.phone(page)).toHaveValue('');
  await expectToasts(page);
});

/** Opens the screen of a number that never wrote, with a link code, while the page's clock stands. */
async function openContact(page: Page, stub: Stub): Promise<void> {
  stub.respond('requestOtp', { success: false, requiresInitialContact: true, linkCode: 'K7MPQ2XD' });
  stub.respond('contactState', { success: true, state: 'waiting' });
  await stopTime(page);
  await open(page, '/login');
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  await page.getByRole('button', { name: 'Try a Different Number' }).waitFor();
}

const contactCalls = (stub: Stub) => stub.calls('contactState').length;

test('the greeting ends with the link code, and the page goes on when its code was sent', async ({ page, stub }) => {
  await openContact(page, stub);
  const link = page.getByRole('main').getByRole('link', { name: 'Message Solace on WhatsApp' });
  const greeting = new URL((await link.getAttribute('href'))!).searchParams.get('text');
  expect(greeting).toBe('Hi Solace! I would like to get started. My number is 15551234567. K7MPQ2XD');
  await expect(page.getByText('Keep the code K7MPQ2XD at the end of your message.')).toBeVisible();
  await page.clock.runFor(2900);
  await settle(page);
  expect(contactCalls(stub)).toBe(0);
  await page.clock.runFor(200);
  await expect.poll(() => contactCalls(stub)).toBe(1);
  expect(stub.calls('contactState')).toMatchObject([{ body: { phone: '+15551234567', linkCode: 'K7MPQ2XD' } }]);
  stub.respond('contactState', { success: true, state: 'code_sent' });
  await settle(page);
  await page.clock.runFor(3000);
  await expect(login.code(page)).toBeVisible();
  stub.respond('verifyOtp', { success: false });
  await enterCode(page);
  await expect(login.alert(page)).toHaveText('Invalid code. Please try again.');
  expect(stub.calls('verifyOtp')).toMatchObject([{ body: { otp: '123456', challenge: 'K7MPQ2XD' } }]);
  expect(stub.calls('requestOtp')).toHaveLength(1);
});

test('a link code that is too old is replaced, and a number that has written gets its code by itself', async ({
  page,
  stub,
}) => {
  await openContact(page, stub);
  stub.respond('contactState', { success: true, state: 'expired' });
  stub.respond('requestOtp', { success: false, requiresInitialContact: true, linkCode: 'ABCDEFGH' });
  await page.clock.runFor(3000);
  await expect(page.getByText('Keep the code ABCDEFGH at the end of your message.')).toBeVisible();
  stub.respond('contactState', { success: true, state: 'contacted' });
  stub.respond('requestOtp', { success: true, requiresInitialContact: false, challenge: 'challenge' });
  await settle(page);
  await page.clock.runFor(3000);
  await expect(login.code(page)).toBeVisible();
  await page.clock.resume();
  await expectToasts(page, sent);
});

test('nothing is asked while the tab is hidden', async ({ page, stub }) => {
  await openContact(page, stub);
  const show = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await show(true);
  await page.clock.runFor(600_000);
  await settle(page);
  expect(contactCalls(stub)).toBe(0);
  await show(false);
  await page.clock.runFor(10_000);
  await expect.poll(() => contactCalls(stub)).toBe(1);
});

test('a number in the international form is sent; six digits are asked for, and sent once', async ({ page, stub }) => {
  await open(page, '/login');
  for (const [index, [typed]] of accepted.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'Change phone number' }).click();
    await login.phone(page).fill(typed);
    await login.send(page).click();
    await expect(login.code(page)).toBeFocused();
  }
  expect(stub.calls('requestOtp').map(({ body }) => body)).toEqual(accepted.map(([, phone]) => ({ phone })));
  await expect(page.getByRole('form', { name: 'Enter your code' })).toBeVisible();
  await expect(login.verify(page)).toBeDisabled();
  await login.code(page).fill('12345');
  await expect(login.verify(page)).toBeDisabled();
  await login.code(page).press('Enter');
  await login.code(page).blur();
  await expect(login.code(page)).toHaveAccessibleErrorMessage('OTP must be exactly 6 digits');
  await login.code(page).fill('12a456');
  await expect(login.verify(page)).toBeDisabled();
  await expect(login.code(page)).toHaveAccessibleErrorMessage('OTP must contain only numbers');
  await login.code(page).press('Enter');
  await settle(page);
  expect(stub.calls('verifyOtp')).toEqual([]);

  stub.respond('verifyOtp', { success: false });
  const release = stub.hold('verifyOtp');
  await login.code(page).fill('');
  // Like a paste: the whole text at once.
  await page.keyboard.insertText('123 456');
  await expect(login.code(page)).toHaveValue('123456');
  await login.verify(page).click();
  await expect(page.getByRole('main').locator('button[type=submit]')).toBeDisabled();
  await login.code(page).press('Enter');
  await settle(page);
  expect(stub.calls('verifyOtp')).toMatchObject([
    { body: { phone: '+15551234567', otp: '123456', challenge: 'challenge' } },
  ]);
  release();
  await expect(login.verify(page)).toBeEnabled();
});

const codeFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('verifyOtp', { success: false, message: 'An old code.' }), 'An old code.'],
  [(stub) => stub.respond('verifyOtp', { success: false }), 'Invalid code. Please try again.'],
  [
    (stub) => stub.respond('verifyOtp', { message: 'Invalid code. Please try again.' }, 401),
    'Invalid code. Please try again.',
  ],
  [(stub) => stub.respond('verifyOtp', {}, 429), 'Too many requests. Please try again later.'],
  [(stub) => stub.respond('verifyOtp', {}, 503), 'Server error. Please try again later.'],
  [(stub) => stub.respond('verifyOtp', {}, 404), 'An unexpected error occurred during login.'],
  [(stub) => stub.disconnect('verifyOtp'), 'Unable to connect to server. Please check your internet connection.'],
  [
    (stub) => {
      stub.respond('verifyOtp', { success: true, token: 'e2e-new', status: 'approved' });
      stub.respond('getMe', { success: false });
    },
    'Login successful, but failed to fetch user profile.',
  ],
];

test('a failed code is shown in the alert and as a toast, and stores no token', async ({ page, stub }) => {
  await installClock(page);
  await askForCode(page);
  await dismissToasts(page);
  for (const [index, [arrange, told]] of codeFailures.entries()) {
    arrange(stub);
    await enterCode(page);
    await expect(login.alert(page)).toHaveText(told);
    await expectToasts(page, ['Verification failed', told]);
    await dismissToasts(page);
    expect(await storedToken(page)).toBeNull();
    if (index % 3 === 2) await page.clock.fastForward(30_000);
  }
  await page.getByRole('button', { name: 'Change phone number' }).click();
  await expect(login.phone(page)).toHaveValue('+15551234567');
  await expect(login.alert(page)).toHaveCount(0);
});

test('after 30 seconds without a code the page says what to try, and the third failure locks it for 30 seconds', async ({
  page,
  stub,
}) => {
  stub.respond('verifyOtp', { success: false });
  await stopTime(page);
  await askForCode(page);
  await page.clock.runFor(29_999);
  await expect(page.getByText(/^No code yet\?/)).toHaveCount(0);
  await page.clock.runFor(1);
  await expect(page.getByRole('status').filter({ hasText: 'No code yet?' })).toBeVisible();
  for (const failed of [1, 2, 3]) {
    await expect(login.verify(page)).toBeVisible();
    await enterCode(page);
    await expect.poll(() => stub.calls('verifyOtp').length).toBe(failed);
    await expect(login.alert(page)).toBeVisible();
  }
  await expect(login.wait(page, 30)).toBeDisabled();
  await expect(login.code(page)).toBeDisabled();
  await page.clock.runFor(1000);
  await expect(login.wait(page, 29)).toBeDisabled();
  await page.getByRole('button', { name: 'Change phone number' }).click();
  await login.send(page).click();
  await expect(login.wait(page, 29)).toBeDisabled();
  await page.clock.runFor(28_999);
  await expect(login.wait(page, 1)).toBeDisabled();
  await page.clock.runFor(251);
  await expect(login.code(page)).toBeEnabled();
  await login.code(page).fill('654321');
  await expect(login.verify(page)).toBeEnabled();
});

/** tests/rules has every status with every plan. */
const arrivals = [
  { status: undefined, to: '/account' },
  { status: 'approved', query: '?plan=premium', to: '/account', told: ['Login successful!'], type: 'success' },
  {
    status: 'suspended',
    to: '/',
    told: ['Login Issue', 'Account status: suspended. Please contact support.'],
    type: 'error',
  },
] as const;

for (const { status, to, ...row } of arrivals) {
  const query = 'query' in row ? row.query : '';
  test(`a good code for the status ${status} ${query} leads to ${to}`, async ({ page, stub }) => {
    stub.person({ status: status ?? 'approved' });
    stub.respond('verifyOtp', { success: true, token: 'e2e-new', ...(status && { status }) });
    await askForCode(page, `/login${query}`);
    await expectToasts(page, sent);
    if ('told' in row) await dismissToasts(page);
    await enterCode(page);
    await page.waitForURL((url) => url.pathname === to);
    // The toast of the sent code goes by itself.
    await expect(page.getByText('Code sent!')).toHaveCount(0);
    await expectToasts(page, 'told' in row ? row.told : sent);
    if ('type' in row) expect((await shownToasts(page)).map(({ type }) => type)).toEqual([row.type]);
    expect(await storedToken(page)).toBe('e2e-new');
    await expect(page.getByRole('link', { name: 'My Account' })).toBeVisible();
  });
}
