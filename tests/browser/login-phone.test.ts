import { login } from './support/login.ts';
import { expect, expectNotices, open, test } from './support/stubbed.ts';
import type { Stub } from './support/stub.ts';

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

test('a number that breaks a rule is not sent', async ({ page, stub }) => {
  await open(page, '/login');
  for (const [typed, rule] of refused) {
    await login.phone(page).fill(typed);
    await expect(login.phone(page)).not.toHaveAttribute('aria-invalid', 'true');
    await login.send(page).click();
    await expect(login.phone(page)).toHaveAccessibleErrorMessage(rule);
    await expect(login.phone(page)).toHaveAttribute('aria-invalid', 'true');
    await expect(login.phone(page)).toBeFocused();
  }
  expect(stub.calls('requestOtp')).toEqual([]);
});

const accepted = [
  ['+123456789', '+123456789'],
  ['+123456789012345', '+123456789012345'],
  ['+1 (555) 123-4567', '+15551234567'],
] as const;

test('a number in the international form is sent, and the code step opens', async ({ page, stub }) => {
  await open(page, '/login');
  await expect(page.getByRole('button', { name: 'Send Verification Code', exact: true })).toBeEnabled();
  for (const [typed] of accepted) {
    await login.phone(page).fill(typed);
    await login.send(page).click();
    await expect(login.code(page)).toBeVisible();
    await page.getByRole('button', { name: 'Change phone number' }).click();
    await expect(page.getByRole('button', { name: 'Resend Verification Code', exact: true })).toBeEnabled();
  }
  expect(stub.calls('requestOtp').map(({ body }) => body)).toEqual(accepted.map(([, phone]) => ({ phone })));
});

test('a sent code shows a notice', async ({ page }) => {
  await open(page, '/login');
  await login.phone(page).fill('+15551234567');
  await login.send(page).click();
  await expectNotices(page, ['Code sent!', 'Check your messages for the verification code']);
});

const failures: [arrange: (stub: Stub) => void, told: string][] = [
  [(stub) => stub.respond('requestOtp', { success: false, message: 'Not today.' }), 'Not today.'],
  [(stub) => stub.respond('requestOtp', { success: false }), 'Failed to send verification code. Please try again.'],
  [(stub) => stub.respond('requestOtp', { message: 'No such country.' }, 400), 'No such country.'],
  [(stub) => stub.respond('requestOtp', {}, 404), 'Failed to request OTP'],
  [(stub) => stub.respond('requestOtp', {}, 429), 'Too many requests. Please try again later.'],
  [(stub) => stub.respond('requestOtp', {}, 503), 'Server error. Please try again later.'],
  [(stub) => stub.disconnect('requestOtp'), 'Network error. Please check your connection and try again.'],
];

test('a failure to send a code is shown once, beside the number', async ({ page, stub }) => {
  await open(page, '/login');
  await login.phone(page).fill('+15551234567');
  for (const [arrange, told] of failures) {
    arrange(stub);
    await login.send(page).click();
    await expect(login.alert(page)).toHaveText(told);
    await expect(page.getByRole('button', { name: 'Resend Verification Code', exact: true })).toBeEnabled();
  }
  await expectNotices(page);
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
  await expectNotices(page);
});
