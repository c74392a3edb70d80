import type { Page } from 'playwright/test';
import {
  expectToasts,
  installClock,
  open,
  setVisible,
  settle,
  shownToasts,
  stopTime,
  storedToken,
  takeToasts,
  violations,
  follow,
} from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, fullUnless, stubbed, buy, enterCode, test } from './support/test.ts';
import { holdAssets, watchFirstPaint } from './support/first-paint.ts';

/** The parts of the login screen. */
const login = {
  phone: (page: Page) => page.getByLabel('Phone number'),
  send: (page: Page) => page.getByRole('button', { name: /^(Send|Resend) Verification Code$/ }),
  code: (page: Page) => page.getByLabel('Verification code'),
  verify: (page: Page) =>
    page.getByRole('button', {
      name: 'Verify Code',
      exact: true,
    }),
  wait: (page: Page, seconds: number) =>
    page.getByRole('button', { name: `Wait ${seconds}s to try again` }),
  alert: (page: Page) => page.getByRole('main').getByRole('alert'),
};

/** Enters a number that never wrote, while the page's clock stands; then it has this state. */
async function askUnknown(page: Page, stub: Stub, state: string): Promise<void> {
  stub.respond('requestOtp', {
    success: false,
    requiresInitialContact: true,
    linkCode: 'K7MPQ2XD',
  });
  stub.respond('contactState', { success: true, state });
  await stopTime(page);
  await open(page, '/login');
  await login.phone(page).fill('+15550000000');
  await login.send(page).click();
}

const different = (page: Page) => page.getByRole('button', { name: 'Try a Different Number' });

/** Requests a code, which opens the code step. */
async function askForCode(page: Page, path = '/login', number = '+15551234567'): Promise<void> {
  await open(page, path);
  await login.phone(page).fill(number);
  await login.send(page).click();
  await login.code(page).waitFor();
}

async function submitCode(page: Page, code = '123456'): Promise<void> {
  await login.code(page).fill(code);
  await login.verify(page).click();
}

const sent = ['Code sent!', 'Check your messages for the verification code'] as const;

/** tests/api has every number that the rule of the page refuses. */
const refused = [
  ['', 'Phone number must be at least 10 digits'],
  ['+12345abc90', 'Please include country code (e.g., +1234567890)'],
] as const;

const phoneFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [
    (stub) =>
      stub.respond('requestOtp', {
        success: false,
        message: 'Not today.',
      }),
    'Not today.',
  ],
  [
    (stub) => stub.respond('requestOtp', { success: false }),
    'Failed to send verification code. Please try again.',
  ],
  [(stub) => stub.respond('requestOtp', {}, 404), 'Failed to request OTP'],
  [
    (stub) => stub.disconnect('requestOtp'),
    'Network error. Please check your connection and try again.',
  ],
];

stubbed(
  'a number that breaks a rule is not sent; a failed request is shown beside it',
  async ({ page, stub }) => {
    await open(page, '/login');
    await expect(
      page.getByRole('button', {
        name: 'Send Verification Code',
        exact: true,
      }),
    ).toBeEnabled();
    for (const [typed, rule] of refused) {
      await login.phone(page).fill(typed);
      await expect(login.phone(page)).not.toHaveAttribute('aria-invalid', 'true');
      await login.send(page).click();
      await expect(login.phone(page)).toHaveAccessibleErrorMessage(rule);
      await expect(login.phone(page)).toBeFocused();
    }
    await settle(page);
    expect(stub.calls('requestOtp')).toEqual([]);
    await login.phone(page).fill('+15551234567');
    for (const [arrange, told] of phoneFailures) {
      arrange(stub);
      await login.send(page).click();
      await expect(login.alert(page)).toHaveText(told);
      await expect(
        page.getByRole('button', {
          name: 'Resend Verification Code',
          exact: true,
        }),
      ).toBeEnabled();
    }
    await expectToasts(page);
  },
);

stubbed(
  'a number that never wrote is asked to, and gets its code once it has written',
  async ({ page, stub }) => {
    await askUnknown(page, stub, 'waiting');
    await expect(
      page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." }),
    ).toBeVisible();
    await different(page).click();
    await expect(login.phone(page)).toHaveValue('');
    await login.phone(page).fill('+15551234567');
    await login.send(page).click();
    const link = page.getByRole('main').getByRole('link', { name: 'Message Solace on WhatsApp' });
    const { origin, searchParams } = new URL((await link.getAttribute('href'))!);
    expect(origin).toBe('https://wa.me');
    const greeting = 'Hi Solace! I would like to get started. My number is 15551234567. K7MPQ2XD';
    expect(searchParams.get('text')).toBe(greeting);
    await expect(
      page.getByText('Keep the code K7MPQ2XD at the end of your message.'),
    ).toBeVisible();

    // Nothing is asked while the tab is hidden.
    await setVisible(page, false);
    await page.clock.runFor(600_000);
    await settle(page);
    expect(stub.calls('contactState')).toEqual([]);
    stub.respond('contactState', { success: true, state: 'expired' });
    stub.respond('requestOtp', {
      success: false,
      requiresInitialContact: true,
      linkCode: 'ABCDEFGH',
    });
    await setVisible(page, true);
    await page.clock.runFor(10_000);
    await expect(
      page.getByText('Keep the code ABCDEFGH at the end of your message.'),
    ).toBeVisible();
    expect(stub.calls('contactState')[0]).toMatchObject({
      body: { phone: '+15551234567', linkCode: 'K7MPQ2XD' },
    });
    stub.respond('contactState', { success: true, state: 'expired' });
    stub.respond('requestOtp', {
      success: true,
      requiresInitialContact: false,
      challenge: 'challenge',
    });
    await settle(page);
    await page.clock.runFor(3000);
    await expect(login.code(page)).toBeVisible();
    await page.clock.resume();
    await expectToasts(page, sent);
  },
);

/** The QR code's modules as the scanner of a phone would take them: the whole link, in one picture. */
const qrCode = (page: Page) =>
  page.getByRole('main').getByRole('img', { name: /^QR code of a link/ });

stubbed(
  'a first message can be sent from another device: number, text and link can be taken from the page',
  async ({ page, stub }) => {
    await askUnknown(page, stub, 'waiting');
    const greeting = 'Hi Solace! I would like to get started. My number is 15550000000. K7MPQ2XD';
    const card = page.getByRole('main');
    await expect(card.getByText('+1 555-010-0199', { exact: true })).toBeVisible();
    await expect(card.getByText(greeting, { exact: true })).toBeVisible();
    await expect(qrCode(page)).toHaveAccessibleName(
      `QR code of a link that opens WhatsApp with the number +1 555-010-0199 and the text “${greeting}”`,
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const [name, copied] of [
      ['Copy the number', '+15550100199'],
      ['Copy the text', greeting],
    ] as const) {
      await page.getByRole('button', { name }).click();
      await expect(page.getByRole('status').filter({ hasText: 'Copied' }).first()).toBeVisible();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copied);
    }
  },
);

test(
  'strangers have used up the codes of a number, and its owner signs in by a message',
  { tag: '@full' },
  async ({ page, phone, expectedErrors }) => {
    expectedErrors.push(/status of 429/);
    await phone.write('Hi');
    const ask = () => page.request.post('/api/auth/request-otp', { data: { phone: phone.number } });
    await ask();
    await open(page, '/login');
    await login.phone(page).fill(phone.number);
    await login.send(page).click();
    await expect(login.alert(page)).toHaveText(
      /^Too many requests\. Please try again later\. You can try again after \d+:\d\d [AP]M\.$/,
    );
    const way = page.getByText(/^You need not wait: send us the code/);
    await expect(way).toBeVisible();
    await expect(qrCode(page)).toBeVisible();
    expect(await violations(page)).toEqual([]);

    // The way outlives a reload.
    await page.reload();
    const link = page.getByRole('main').getByRole('link', { name: 'Message Solace on WhatsApp' });
    const text = new URL((await link.getAttribute('href'))!).searchParams.get('text')!;
    expect(text).toMatch(/^Hi Solace! I would like to log in\. [2-9A-HJKMNP-Z]{8}$/);
    const before = (await phone.messages()).length;
    await phone.write(text);
    await expect(login.code(page)).toBeVisible();
    const code = (await phone.messages()).slice(before).find((message) => message.code)!.code!;
    await login.code(page).fill(code);
    await follow(login.verify(page), '**/account');
  },
);

for (const [path, sentence, wait, way] of [
  [
    '/login',
    'Too many requests. Please try again later.',
    'You can try again after',
    'You need not wait',
  ],
  [
    '/es/login',
    'Demasiadas solicitudes en poco tiempo.',
    'Puedes volver a intentarlo después de esta hora:',
    'No hace falta esperar',
  ],
  [
    '/pt-br/login',
    'Muitas solicitações em pouco tempo.',
    'Você pode tentar de novo depois deste horário:',
    'Não precisa esperar',
  ],
] as const)
  stubbed(
    `${path} says until when there are no codes, and withdraws it when that time has come`,
    fullUnless(path === '/login'),
    async ({ page, stub }) => {
      stub.respond(
        'requestOtp',
        { success: false, code: 'rate_limited', linkCode: 'K7MPQ2XD' },
        429,
        { 'retry-after': '86400' },
      );
      stub.respond('contactState', { success: true, state: 'contacted' });
      await stopTime(page);
      await open(page, path);
      await page.locator('#phone').fill('+15551234567');
      await page.locator('main button[type=submit]').click();
      await expect(login.alert(page)).toContainText(sentence);
      await expect(login.alert(page)).toContainText(wait);
      await expect(login.alert(page)).toContainText(/\b(January|enero|janeiro)\b.*12:00/);
      await expect(page.getByText(way)).toContainText('K7MPQ2XD');
      await page.clock.fastForward('23:59:59');
      await expect(login.alert(page)).toBeVisible();
      await page.clock.runFor(1000);
      await expect(login.alert(page)).toHaveCount(0);
      await expect(page.getByText(way)).toHaveCount(0);
    },
  );

stubbed(
  'a number that is edited while its code is requested stays the one to verify',
  { tag: '@full' },
  async ({ page, stub }) => {
    stub.respond('verifyOtp', { success: false });
    const release = stub.hold('requestOtp');
    await open(page, '/login');
    await login.phone(page).fill('+15551234567');
    await login.send(page).click();
    await login.phone(page).fill('+15550000000');
    release();
    await expect(page.getByText('We sent a 6-digit code to +1 555-123-4567')).toBeVisible();
    await submitCode(page);
    await expect.poll(() => stub.calls('verifyOtp').length).toBe(1);
    expect(stub.calls('verifyOtp')).toMatchObject([{ body: { phone: '+15551234567' } }]);
  },
);

stubbed(
  'who tries a different number stays there when the code of the first one comes',
  { tag: '@full' },
  async ({ page, stub }) => {
    await askUnknown(page, stub, 'expired');
    await expect(different(page)).toBeVisible();
    stub.respond('requestOtp', {
      success: true,
      requiresInitialContact: false,
      challenge: 'challenge',
    });
    const release = stub.hold('requestOtp');
    await page.clock.runFor(3000);
    await expect.poll(() => stub.calls('requestOtp').length).toBe(2);
    await different(page).click();
    release();
    await settle(page);
    await expect(login.phone(page)).toHaveValue('');
    await expect(login.code(page)).toHaveCount(0);
  },
);

stubbed('six digits are asked for, and sent once', async ({ page, stub }) => {
  await askForCode(page, '/login', '+1 (555) 123-4567');
  expect(stub.calls('requestOtp').map(({ body }) => body)).toEqual([{ phone: '+15551234567' }]);
  await expect(login.code(page)).toBeFocused();
  await expect(login.code(page)).toHaveAttribute('autocomplete', 'one-time-code');
  await expect(page.getByRole('form', { name: 'Enter your code' })).toBeVisible();
  await expect(login.verify(page)).toBeDisabled();
  await login.code(page).blur();
  await expect(login.code(page)).not.toHaveAttribute('aria-invalid', 'true');
  await login.code(page).fill('12345');
  await expect(login.verify(page)).toBeDisabled();
  await login.code(page).press('Enter');
  await expect(login.code(page)).not.toHaveAttribute('aria-invalid', 'true');
  await login.code(page).blur();
  await expect(login.code(page)).toHaveAccessibleErrorMessage('OTP must be exactly 6 digits');
  await login.code(page).fill('12a456');
  await expect(login.code(page)).toHaveAccessibleErrorMessage('OTP must contain only numbers');
  await settle(page);
  expect(stub.calls('verifyOtp')).toEqual([]);
  stub.respond('verifyOtp', { success: false, message: 'An old code.' });
  const release = stub.hold('verifyOtp');
  await login.code(page).fill('');
  // Like a paste: the whole text at once. Zeros at its beginning are part of a code.
  await page.keyboard.insertText('00-3 456 7');
  await expect(login.code(page)).toHaveValue('003456');
  await login.verify(page).click();
  await expect(page.getByRole('main').locator('button[type=submit]')).toBeDisabled();
  await login.code(page).press('Enter');
  await settle(page);
  const body = {
    phone: '+15551234567',
    otp: '003456',
    challenge: 'challenge',
  };
  expect(stub.calls('verifyOtp')).toMatchObject([{ body }]);
  release();
  await expect(login.verify(page)).toBeEnabled();
  await expect(login.alert(page)).toHaveText('An old code.');
  expect(await storedToken(page)).toBeNull();
});

const codeFailures: [arrange: (stub: Stub) => void, told: string][] = [
  [
    (stub) =>
      stub.respond('verifyOtp', {
        success: false,
        message: 'An old code.',
      }),
    'An old code.',
  ],
  [(stub) => stub.respond('verifyOtp', { message: 'Invalid code.' }, 401), 'Invalid code.'],
  [(stub) => stub.respond('verifyOtp', {}, 404), 'An unexpected error occurred during login.'],
  [
    (stub) => stub.disconnect('verifyOtp'),
    'Unable to connect to server. Please check your internet connection.',
  ],
  [
    (stub) => {
      stub.respond('verifyOtp', {
        success: true,
        token: 'e2e-new',
        status: 'approved',
      });
      stub.respond('getMe', { success: false });
    },
    'Login successful, but failed to fetch user profile.',
  ],
];

for (const [part, file] of [
  ['the code step', 'code-step.js'],
  ['the profile', 'profile-query.js'],
] as const)
  stubbed(
    `where ${part} never comes, the page names the reload, which keeps the step`,
    fullUnless(part === 'the code step'),
    async ({ page }) => {
      await installClock(page);
      await holdAssets(page, file);
      await open(page, '/login');
      await login.phone(page).fill('+15551234567');
      await login.send(page).click();
      if (part === 'the profile') await submitCode(page);
      await settle(page);
      await page.clock.fastForward(10_000);
      const refresh = login.alert(page).getByRole('button', { name: 'Refresh Page' });
      await expect(refresh).toBeVisible();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await refresh.click();
      await expect(refresh).toHaveCount(0);
      await expect(login.code(page)).toBeVisible();
    },
  );

stubbed(
  'a failed code is shown in the alert and as a toast, and stores no token',
  { tag: '@full' },
  async ({ page, stub }) => {
    await installClock(page);
    await askForCode(page);
    await takeToasts(page, sent);
    for (const [index, [arrange, told]] of codeFailures.entries()) {
      arrange(stub);
      await submitCode(page);
      await expect(login.alert(page)).toHaveText(told);
      await takeToasts(page, ['Verification failed', told]);
      expect(await storedToken(page)).toBeNull();
      if (index === 2) await page.clock.fastForward(30_000);
    }
    await page.getByRole('button', { name: 'Change phone number' }).click();
    await expect(login.phone(page)).toHaveValue('+15551234567');
    await expect(login.alert(page)).toHaveCount(0);
  },
);

const goBack = (page: Page) => page.evaluate(() => history.back());
const goForward = (page: Page) => page.evaluate(() => history.forward());

stubbed(
  'Back at the code leads to its number, Forward to the code, and after the sign-in off the page',
  async ({ page, stub }) => {
    await open(page, '/plans');
    await askForCode(page, '/login?plan=premium');
    await goBack(page);
    await expect(login.phone(page)).toHaveValue('+15551234567');
    await goForward(page);
    await expect(login.code(page)).toBeVisible();
    await page.reload();
    await expect(login.code(page)).toBeVisible();
    await goBack(page);
    await login.phone(page).fill('+15550000000');
    await goForward(page);
    await expect(page.getByText('+1 555-123-4567')).toBeVisible();

    stub.respond('verifyOtp', { success: true, token: 'e2e-token' });
    await submitCode(page);
    await page.waitForURL('**/account');
    await page
      .getByRole('heading', {
        name: 'My Account',
        level: 1,
      })
      .waitFor();
    await goBack(page);
    await page.waitForURL('**/plans');
    expect(stub.calls('requestOtp')).toHaveLength(1);
    expect(stub.calls('verifyOtp')[0]!.body).toMatchObject({
      phone: '+15551234567',
      challenge: 'challenge',
    });
  },
);

stubbed(
  'after a button that leads to the number, Back leaves the page at once',
  { tag: '@full' },
  async ({ page, stub }) => {
    await open(page, '/plans');
    await askForCode(page);
    await page.getByRole('button', { name: 'Change phone number' }).click();
    await expect(login.phone(page)).toHaveValue('+15551234567');
    stub.respond('requestOtp', {
      success: false,
      requiresInitialContact: true,
      linkCode: 'K7MPQ2XD',
    });
    stub.respond('contactState', { success: true, state: 'waiting' });
    await login.send(page).click();
    await different(page).waitFor();
    await goBack(page);
    await expect(login.phone(page)).toHaveValue('+15551234567');
    await goForward(page);
    await expect(page.getByText('Keep the code K7MPQ2XD')).toBeVisible();
    await different(page).click();
    await expect(login.phone(page)).toHaveValue('');
    await goBack(page);
    await page.waitForURL('**/plans');
  },
);

stubbed(
  'after 30 s without a code the page helps, and the third failure locks it for 30 s',
  async ({ page, stub }) => {
    stub.respond('verifyOtp', { success: false });
    await stopTime(page);
    await askForCode(page);
    await page.clock.runFor(29_999);
    await expect(page.getByText(/^No code yet\?/)).toHaveCount(0);
    await page.clock.runFor(1);
    await expect(page.getByRole('status').filter({ hasText: 'No code yet?' })).toBeVisible();
    for (const failed of [1, 2, 3]) {
      await expect(login.verify(page)).toBeVisible();
      await submitCode(page);
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
    await page.reload();
    await expect(login.wait(page, 29)).toBeDisabled();
    await page.clock.runFor(28_999);
    await expect(login.wait(page, 1)).toBeDisabled();
    await page.clock.runFor(251);
    await expect(login.code(page)).toBeEnabled();
    await login.code(page).fill('654321');
    await expect(login.verify(page)).toBeEnabled();
    // The failures before the lock count no more.
    await login.verify(page).click();
    await expect.poll(() => stub.calls('verifyOtp').length).toBe(4);
    await expect(login.alert(page)).toBeVisible();
    await expect(login.verify(page)).toBeVisible();
  },
);

const newCode = (page: Page) => page.getByRole('button', { name: 'Send a new code' });

const notDelivered = (page: Page) =>
  page.getByRole('status').filter({ hasText: /^WhatsApp could not deliver the code to \+1 555-/ });

stubbed(
  'a code that WhatsApp cannot deliver is said to be so, and a new one can be sent at once',
  async ({ page, stub }) => {
    const asked = () => stub.calls('codeState').map(({ body }) => body);
    const question = (challenge: string) => ({
      phone: '+15551234567',
      challenge,
    });
    await stopTime(page);
    // The file that shows toasts has a time limit, too.
    const file = page.waitForResponse('**/toaster.js');
    await askForCode(page);
    await file;
    await settle(page);

    // Nothing is asked while the tab is hidden, nor about a code that is being typed.
    await setVisible(page, false);
    await page.clock.runFor(10_000);
    await setVisible(page, true);
    await login.code(page).fill('1');
    await page.clock.runFor(10_000);
    await settle(page);
    expect(asked()).toEqual([]);
    await login.code(page).fill('');
    stub.disconnect('codeState');
    await page.clock.runFor(15_000);
    await expect.poll(asked).toContainEqual(question('challenge'));
    await settle(page);
    await expectToasts(page, sent);

    stub.respond('codeState', { success: true, state: 'undelivered' });
    await page.clock.runFor(15_000);
    await expect(notDelivered(page)).toBeVisible();
    await expect(page.getByText('We sent a 6-digit code')).toHaveCount(0);
    await expect(page.getByRole('link', { name: 'Message Solace on WhatsApp' })).toBeVisible();
    const { length } = asked();
    await page.clock.runFor(60_000);
    await settle(page);
    expect(asked()).toHaveLength(length);

    stub.respond('requestOtp', {
      success: true,
      requiresInitialContact: false,
      challenge: 'another',
    });
    stub.respond('codeState', { success: true, state: 'expired' });
    await newCode(page).click();
    await expect(notDelivered(page)).toHaveCount(0);
    await expect(page.getByText('We sent a 6-digit code')).toBeVisible();
    await expectToasts(page, sent);
    await page.clock.runFor(3000);
    await expect.poll(() => asked().slice(length)).toEqual([question('another')]);
    // It is some seconds old, so its tries are used up.
    await expect(spent(page)).toBeVisible();
    await expect(tooOld(page)).toHaveCount(0);
    await expect(page.getByText('valid for 5 minutes')).toHaveCount(0);
    await expect(page.getByText('We sent a 6-digit code')).toHaveCount(0);
    await expect(newCode(page)).toBeVisible();
    await page.clock.runFor('05:00');
    await settle(page);
    await expect(spent(page)).toBeVisible();
    expect(asked().slice(length)).toEqual([question('another')]);
  },
);

const spent = (page: Page) =>
  page.getByRole('status').filter({ hasText: 'This code can no longer be used.' });

const tooOld = (page: Page) =>
  page.getByRole('status').filter({ hasText: 'The code is too old. Please ask for a new one.' });

stubbed(
  'a page that waits for a code asks each 15 s at least, and says when it is too old',
  async ({ page, stub }) => {
    await stopTime(page);
    await askForCode(page);
    // Never longer than a pause, and more steps than questions: one that comes sooner is counted.
    for (const [steps, seconds] of [
      [10, 3],
      [17, 15],
    ] as const)
      for (let step = 0; step < steps; step += 1) {
        await page.clock.runFor(seconds * 1000);
        await settle(page);
      }
    const { length } = stub.calls('codeState');
    expect(length).toBeGreaterThanOrEqual(20);
    expect(length).toBeLessThanOrEqual(25);
    await expect(page.getByText('valid for 5 minutes')).toBeVisible();

    // Without an answer, too.
    stub.disconnect('codeState');
    await login.code(page).fill('1');
    await page.clock.runFor(15_000);
    await expect(tooOld(page)).toBeVisible();
    await expect(page.getByText('valid for 5 minutes')).toHaveCount(0);
  },
);

test(
  'a number without WhatsApp is told so, and a new code signs it in',
  { tag: '@full' },
  async ({ page, phone }) => {
    await phone.write('Hi');
    await phone.delivery('failed');
    await askForCode(page, '/login', phone.number);
    await expect(notDelivered(page)).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await phone.delivery('delivered');
    const before = (await phone.messages()).length;
    await newCode(page).click();
    await expect(notDelivered(page)).toHaveCount(0);
    const codes = async () =>
      (await phone.messages()).slice(before).flatMap(({ code }) => code ?? []);
    await expect.poll(codes).toHaveLength(1);
    await login.code(page).fill((await codes())[0]!);
    await follow(login.verify(page), '**/account');
  },
);

/** tests/rules has every status with every plan. */
const arrivals = [
  ['approved', '?plan=premium', '/account', ['Login successful!'], 'success'],
  [
    'suspended',
    '',
    '/',
    ['Login Issue', 'Account status: suspended. Please contact support.'],
    'error',
  ],
] as const;

for (const [status, query, to, told, type] of arrivals)
  stubbed(
    `a good code for the status ${status} ${query} leads to ${to}`,
    { tag: '@full' },
    async ({ page, stub }) => {
      stub.person({ status });
      stub.respond('verifyOtp', {
        success: true,
        token: 'e2e-new',
        status,
      });
      await askForCode(page, `/login${query}`);
      await takeToasts(page, sent);
      await submitCode(page);
      await page.waitForURL((url) => url.pathname === to);
      await expectToasts(page, told);
      expect((await shownToasts(page)).map((toast) => toast.type)).toEqual([type]);
      expect(await storedToken(page)).toBe('e2e-new');
      await expect(page.getByRole('link', { name: 'My Account' })).toBeVisible();
    },
  );

test('a phone signs in, sees its usage move in two tabs, and logs out of both', async ({
  page,
  context,
  phone,
}) => {
  await phone.write('Hi');
  await page.goto('/login');
  await page.getByLabel('Phone number').fill(phone.number);
  await enterCode(page, phone);
  await page.waitForURL('**/account');
  await expect(page.getByText('1 / 5')).toBeVisible();
  const other = await context.newPage();
  await other.goto('/account');
  await expect(other.getByText('1 / 5')).toBeVisible();

  await phone.write('Are you there?');
  for (const tab of [page, other]) await expect(tab.getByText('2 / 5')).toBeVisible();

  // The login form is not shown to a returning user.
  const { seen } = await watchFirstPaint(page);
  await page.goto('/login');
  await page.waitForURL('**/account');
  await expect(page.getByText('2 / 5')).toBeVisible();
  expect(await seen()).not.toContain('Log in to Solace');

  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page.getByText('Logged out successfully')).toBeVisible();
  await other.waitForURL('**/login');
  await page.goto('/account');
  await page.waitForURL('**/login');
});

stubbed('a number typed and sent before hydration is sent afterwards', async ({ page, stub }) => {
  const release = await holdAssets(page);
  await page.goto('/login', { waitUntil: 'commit' });
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  expect(new URL(page.url()).search).toBe('');
  release();
  await expect(login.code(page)).toBeVisible();
  expect(stub.calls('requestOtp')).toMatchObject([{ body: { phone: '+15551234567' } }]);
});

test(
  'somebody whose number WhatsApp hides comes from the landing page to a paid plan',
  { tag: '@full' },
  async ({ page, phone }) => {
    await phone.hide();
    expect((await phone.write('Hi')).reply).toContain('I cannot see your number.');
    await open(page, '/');
    await page.getByRole('link', { name: 'Choose Your Plan' }).first().click();
    await follow(page.getByRole('link', { name: 'Choose Basic' }), '**/login?plan=basic');
    await page.getByLabel('Phone number').fill(phone.number);
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await expect(
      page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." }),
    ).toBeVisible();
    await expect(page.getByText(/^Has your number changed\? Do not begin anew/)).toBeVisible();
    await expect(page.getByRole('link', { name: 'write to our support' })).toHaveAttribute(
      'href',
      '/contact',
    );
    expect(await violations(page)).toEqual([]);
    const link = await page
      .getByRole('link', { name: 'Message Solace on WhatsApp' })
      .getAttribute('href');
    const greeting = new URL(link!).searchParams.get('text')!;
    expect(greeting).toMatch(/My number is \d+\. [2-9A-HJKMNP-Z]{8}$/);

    // The person sends the greeting, and the page goes on by itself.
    expect((await phone.write(greeting)).reply).toContain('Type the code that has just arrived');
    await page.getByLabel('Verification code').fill(await phone.code());
    await follow(page.getByRole('button', { name: 'Verify Code' }), '**/account');
    await buy(page);
    await expect(page.getByText('0 / 30')).toBeVisible();
  },
);
