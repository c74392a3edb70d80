import type { Page } from 'playwright/test';
import { expect, open, test } from './support/stubbed.ts';

const bar = (page: Page) => page.getByRole('banner');
const rows = [
  { path: '/', visitor: 'Home', member: 'Home' },
  { path: '/plans', visitor: null, member: null },
  { path: '/login', visitor: 'Login', member: 'My Account' },
  { path: '/account', visitor: 'Login', member: 'My Account' },
  { path: '/contact', visitor: null, member: null },
  { path: '/nope', visitor: null, member: null },
] as const;

for (const who of ['visitor', 'member'] as const) {
  test(`the header of a ${who} marks where they are`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const accountLink = who === 'member' ? ['My Account', '/account'] : ['Login', '/login'];
    if (who === 'member') await stub.signedIn();
    for (const row of rows) {
      await open(page, row.path);
      const links = bar(page).getByRole('navigation').getByRole('link');
      await expect(links).toHaveText(['Home', accountLink[0]!]);
      await expect(links.nth(0)).toHaveAttribute('href', '/');
      await expect(links.nth(1)).toHaveAttribute('href', accountLink[1]!);
      await expect(bar(page).getByRole('link').first()).toHaveAttribute('href', '/');
      const active = row[who];
      await expect(bar(page).locator('nav [aria-current=page]')).toHaveText(active ? [active] : []);
    }
  });
}

test('the active button looks different', async ({ page }) => {
  await open(page, '/');
  const colour = (name: string) =>
    bar(page)
      .getByRole('link', { name, exact: true })
      .evaluate((link) => getComputedStyle(link).backgroundColor);
  expect(await colour('Home')).not.toBe(await colour('Login'));
});

test('the colours are changed by a button and stored', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, '/plans');
  const paper = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const dark = await paper();
  await page.getByRole('button', { name: 'Switch to light colours' }).click();
  await expect.poll(paper).not.toBe(dark);
  await open(page, '/');
  await expect(page.getByRole('button', { name: 'Switch to dark colours' })).toBeVisible();
  expect(await paper()).not.toBe(dark);
});
