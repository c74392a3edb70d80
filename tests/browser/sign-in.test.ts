import { holdAssets, watchFirstPaint } from './support/first-paint.ts';
import { open, violations } from './support/page.ts';
import { buy, enterCode, expect, test } from './support/test.ts';

test('a phone signs in, sees its usage move in two tabs, and logs out of both', async ({ page, context, phone }) => {
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

test('a number typed and sent before hydration is sent afterwards', async ({ page, phone }) => {
  const release = await holdAssets(page);
  await page.goto('/login', { waitUntil: 'commit' });
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  expect(new URL(page.url()).search).toBe('');
  release();
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
});

test('somebody whose number WhatsApp hides comes from the landing page to a paid plan', async ({ page, phone }) => {
  await phone.hide();
  expect((await phone.write('Hi')).reply).toContain('I cannot see your number.');
  await open(page, '/');
  await page.getByRole('link', { name: 'Choose Your Plan' }).first().click();
  await page.getByRole('link', { name: 'Choose Basic' }).click();
  await page.waitForURL('**/login?plan=basic');
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
  await expect(page.getByText(/^Has your number changed\? Do not begin anew/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'write to our support' })).toHaveAttribute('href', '/contact');
  expect(await violations(page)).toEqual([]);
  const link = await page.getByRole('link', { name: 'Message Solace on WhatsApp' }).getAttribute('href');
  const greeting = new URL(link!).searchParams.get('text')!;
  expect(greeting).toMatch(/My number is \d+\. [2-9A-HJKMNP-Z]{8}$/);

  // The person sends the greeting, and the page goes on by itself.
  expect((await phone.write(greeting)).reply).toContain('Type the code that has just arrived');
  await page.getByLabel('Verification code').fill(await phone.code());
  await page.getByRole('button', { name: 'Verify Code' }).click();
  await page.waitForURL('**/account');
  await buy(page);
  await expect(page.getByText('0 / 30')).toBeVisible();
});
