import { expect, signIn, test } from './support/test.ts';

test('a phone signs in and sees its usage move in two tabs', async ({ page, context, phone }) => {
  await phone.write('Hi');
  await signIn(page, phone);
  await expect(page.getByText('1 / 5')).toBeVisible();
  const other = await context.newPage();
  await other.goto('/account');
  await expect(other.getByText('1 / 5')).toBeVisible();

  await phone.write('Are you there?');
  for (const tab of [page, other]) await expect(tab.getByText('2 / 5')).toBeVisible();

  for (let sent = 3; sent <= 5; sent += 1) expect((await phone.write('More')).usage).toMatchObject({ allowed: true });
  const sixth = await phone.write('One more');
  expect(sixth.usage).toMatchObject({ allowed: false, used: 5, remaining: 0 });
  for (const tab of [page, other]) await expect(tab.getByText('5 / 5')).toBeVisible();
});

test('a number that never wrote is asked to write first', async ({ page, phone }) => {
  await page.goto('/login');
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
  const link = page.getByRole('link', { name: /WhatsApp/ }).first();
  await expect(link).toHaveAttribute('href', new RegExp(`^https://wa\\.me/\\d+\\?text=.*${phone.number.slice(1)}`));
  expect(await phone.messages()).toEqual([]);
  await page.getByRole('button', { name: 'Try a Different Number' }).click();
  await expect(page.getByLabel('Phone number')).toHaveValue('');
});

test('logging out in one tab logs the other out', async ({ page, context, phone }) => {
  await phone.write('Hi');
  await signIn(page, phone);
  const other = await context.newPage();
  await other.goto('/account');
  await expect(other.getByText('1 / 5')).toBeVisible();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page.getByText('Logged out successfully')).toBeVisible();
  await other.waitForURL('**/login');
  await page.goto('/account');
  await page.waitForURL('**/login');
});

test('three wrong codes start a wait of thirty seconds', async ({ page, phone, expectedErrors }) => {
  expectedErrors.push(/status of 401/);
  await phone.write('Hi');
  await page.goto('/login');
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  const right = await phone.code();
  const input = page.getByLabel('Verification code');
  await expect(page.getByRole('button', { name: 'Verify Code' })).toBeDisabled();
  for (let tries = 0; tries < 3; tries += 1) {
    await input.fill(right === '000000' ? '000001' : '000000');
    await page.getByRole('button', { name: 'Verify Code' }).click();
    await expect(page.getByRole('alert').getByText('Invalid code. Please try again.')).toBeVisible();
  }
  await expect(page.getByRole('button', { name: /^Wait \d+s to try again$/ })).toBeDisabled();
  await expect(input).toBeDisabled();
  await page.getByRole('button', { name: 'Change phone number' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
});
