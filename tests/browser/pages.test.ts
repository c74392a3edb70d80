import { expectToBeAccessible, expectToFit } from './support/page.ts';
import { expect, signInByExternalToken, test } from './support/test.ts';

const publicPages = [
  ['/', 'Your AI Companion for Psychological Well-Being'],
  ['/plans', 'Choose Your Plan'],
  ['/login', 'Log in to Solace'],
  ['/terms', 'Terms and Conditions'],
  ['/privacy', 'Privacy Policy'],
  ['/contact', 'Contact'],
  ['/help-now', 'Get help now'],
  ['/safety', 'Safety'],
  ['/payment-success', 'Payment Successful!'],
  ['/payment-canceled', 'Payment Not Completed'],
  ['/auth/stripe-success', 'Success!'],
] as const;

test.use({ viewport: { width: 320, height: 800 } });

for (const [path, heading] of publicPages)
  test(`${path} opens, fits a small screen and has no axe violation in light and dark`, async ({ page }) => {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    await expect(page.getByRole('heading', { name: heading, exact: false }).first()).toBeVisible();
    await expectToFit(page, 320);
    await expectToBeAccessible(page);
    await page.reload();
    await expect(page.getByRole('heading', { name: heading, exact: false }).first()).toBeVisible();
  });

test('/cancel fits a small screen and has no axe violation in light and dark', async ({ page, phone }) => {
  await signInByExternalToken(page, phone, '/cancel');
  await expect(page.getByText('You have no subscription, so there is nothing to cancel')).toBeVisible();
  await expectToFit(page, 320);
  await expectToBeAccessible(page);
});

test('the account fits a small screen and has no axe violation in light and dark', async ({ page, phone }) => {
  await signInByExternalToken(page, phone);
  await expect(page.getByText('1 / 5')).toBeVisible();
  await expectToFit(page, 320);
  await expectToBeAccessible(page);
  await page.getByRole('button', { name: 'Delete Account' }).click();
  await expect(page.getByRole('alertdialog', { name: 'Are you absolutely sure?' })).toBeVisible();
  await expectToBeAccessible(page);
});

test('every page carries the strict headers', async ({ request }) => {
  for (const path of ['/', '/plans', '/account', '/login']) {
    const headers = (await request.get(`${process.env.SITE_URL}${path}`)).headers();
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe-inline');
    expect(headers['strict-transport-security']).toContain('max-age=31536000');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['permissions-policy']).toContain('camera=()');
  }
});

test('a browser that asks for /favicon.ico, as it does beside a text, gets the icon', async ({ request }) => {
  const response = await request.get('/favicon.ico');
  expect(response.status()).toBe(200);
  expect(response.headers()['content-type']).toBe('image/png');
});
