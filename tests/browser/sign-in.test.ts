import { holdAssets, layoutShift, watchFirstPaint } from './support/first-paint.ts';
import { open } from './support/page.ts';
import { expect, signIn, signInByExternalToken, test } from './support/test.ts';

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

test('the login form is not shown to a returning user', async ({ page, phone }) => {
  await signInByExternalToken(page, phone);
  const { seen } = await watchFirstPaint(page);
  await page.goto('/login');
  await page.waitForURL('**/account');
  await expect(page.getByText('1 / 5')).toBeVisible();
  expect(await seen()).not.toContain('Log in to Solace');
});

test('a number typed and sent before hydration is sent afterwards', async ({ page, phone }) => {
  const release = await holdAssets(page);
  await page.goto('/login', { waitUntil: 'commit' });
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  expect(new URL(page.url()).search).toBe('');
  release();
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
});

test('the plan of the address is shown without a mismatch', async ({ page }) => {
  await open(page, '/login?plan=premium');
  await expect(page.getByText('You chose the Premium plan.')).toBeVisible();
  expect(await layoutShift(page)).toBe(0);
});
