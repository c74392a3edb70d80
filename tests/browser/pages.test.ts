import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright/test';
import { signInByExternalToken, expect, test } from './support/test.ts';

const open = [
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

async function axe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme, viewport: { width: 320, height: 800 } });

    for (const [path, heading] of open) {
      test(`${path} opens, fits a small screen and has no axe violation`, async ({ page }) => {
        const answer = await page.goto(path);
        expect(answer?.status()).toBe(200);
        await expect(page.getByRole('heading', { name: heading, exact: false }).first()).toBeVisible();
        expect(await axe(page)).toEqual([]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow).toBeLessThanOrEqual(0);
        await page.reload();
        await expect(page.getByRole('heading', { name: heading, exact: false }).first()).toBeVisible();
      });
    }

    test('the account fits a small screen and has no axe violation', async ({ page, phone }) => {
      await signInByExternalToken(page, phone);
      await expect(page.getByText('1 / 5')).toBeVisible();
      expect(await axe(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete Account' }).click();
      await expect(page.getByRole('alertdialog', { name: 'Are you absolutely sure?' })).toBeVisible();
      expect(await axe(page)).toEqual([]);
    });
  });
}

test('an unknown path and an unknown file are 404', async ({ page, request, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  const answer = await page.goto('/nope');
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'Page Not Found' })).toBeVisible();
  expect((await request.get(`${process.env.SITE_URL}/assets/nope.js`)).status()).toBe(404);
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
