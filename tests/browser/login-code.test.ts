import { askForCode, enterCode, login } from './support/login.ts';
import type { Stub } from './support/stub.ts';
import {
  dismissNotices,
  expect,
  installClock,
  expectNotices,
  settle,
  stopTime,
  storedToken,
  test,
} from './support/stubbed.ts';

test('six digits are asked for, and nothing else is sent', async ({ page, stub }) => {
  await askForCode(page);
  await expect(login.code(page)).toBeFocused();
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
  await login.code(page).fill('');
  // Like a paste: the whole text at once.
  await page.keyboard.insertText('123 456');
  await expect(login.code(page)).toHaveValue('123456');
  await expect(login.verify(page)).toBeEnabled();
});

test('nothing is sent twice while a code is being verified', async ({ page, stub }) => {
  stub.respond('verifyOtp', { success: false });
  const release = stub.hold('verifyOtp');
  await askForCode(page);
  await enterCode(page);
  await expect(page.getByRole('main').locator('button[type=submit]')).toBeDisabled();
  await login.code(page).press('Enter');
  await settle(page);
  expect(stub.calls('verifyOtp')).toMatchObject([{ body: { phone: '+15551234567', otp: '123456' } }]);
  release();
  await expect(login.verify(page)).toBeEnabled();
});

const failures: [arrange: (stub: Stub) => void, told: string][] = [
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

test('a failed code is shown in the alert and as a notice, and stores no token', async ({ page, stub }) => {
  await installClock(page);
  await askForCode(page);
  await dismissNotices(page);
  for (const [index, [arrange, told]] of failures.entries()) {
    arrange(stub);
    await enterCode(page);
    await expect(login.alert(page)).toHaveText(told);
    await expectNotices(page, ['Verification failed', told]);
    await dismissNotices(page);
    expect(await storedToken(page)).toBeNull();
    if (index % 3 === 2) await page.clock.fastForward(30_000);
  }
  await page.getByRole('button', { name: 'Change phone number' }).click();
  await expect(login.phone(page)).toHaveValue('+15551234567');
  await expect(login.alert(page)).toHaveCount(0);
});

test('the third failure locks the code for thirty seconds', async ({ page, stub }) => {
  stub.respond('verifyOtp', { success: false });
  await stopTime(page);
  await askForCode(page);
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

test('after 30 seconds without a code the page says what to try', async ({ page }) => {
  await stopTime(page);
  await askForCode(page);
  await page.clock.runFor(29_999);
  await expect(page.getByText(/^No code yet\?/)).toHaveCount(0);
  await page.clock.runFor(1);
  await expect(page.getByRole('status').filter({ hasText: 'No code yet?' })).toBeVisible();
});

test('the notice of a sent code goes when the code is verified', async ({ page, stub }) => {
  stub.respond('verifyOtp', { success: true, token: 'e2e-new', status: 'approved' });
  await askForCode(page);
  await expectNotices(page, ['Code sent!', 'Check your messages for the verification code']);
  await enterCode(page);
  await page.waitForURL('**/account');
  await expectNotices(page);
});
