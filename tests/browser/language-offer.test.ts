import type { Page } from 'playwright/test';
import { languages } from '../../worker/contract/languages.ts';
import { holdAssets, layoutShift } from './support/first-paint.ts';
import { expectToFit, hydrated, open, violations } from './support/page.ts';
import { expect, test } from './support/stubbed.ts';

/** A browser, the page that it opens, and the one language that is offered to it. */
const visits = [
  ['en-US', '/es/plans', 'English', '/plans'],
  ['es-MX', '/plans', 'Español', '/es/plans'],
  ['pt-PT', '/plans', 'Português', '/pt-br/plans'],
  ['es-AR', '/pt-br/', 'Español', '/es/'],
] as const;

const offers = (page: Page) => page.getByRole('complementary').getByRole('link');
const stored = (page: Page) => page.evaluate(() => localStorage.getItem('language'));

for (const [locale, path, name, target] of visits)
  test.describe(`a browser in ${locale}`, () => {
    test.use({ locale });

    test(`${path} offers ${name} alone, from the first paint on and without a shift`, async ({ page }) => {
      const release = await holdAssets(page);
      await page.goto(path, { waitUntil: 'commit' });
      await expect(offers(page)).toHaveText([name]);
      const served = await page.getByRole('heading', { level: 1 }).boundingBox();
      release();
      await hydrated(page);
      expect(await page.getByRole('heading', { level: 1 }).boundingBox()).toEqual(served);
      expect(await layoutShift(page)).toBe(0);
      const tag = await offers(page).getAttribute('hreflang');
      expect(languages.find((language) => language.tag === tag)?.name).toBe(name);
    });

    test(`${path} leads to the same page in ${name}, where nothing is offered`, async ({ page }) => {
      await open(page, `${path}?plan=basic`);
      await offers(page).click();
      await page.waitForURL(`${target}?plan=basic`);
      await expect(offers(page)).toHaveCount(0);
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(offers(page)).toHaveCount(0);
    });
  });

test.describe('the offer', () => {
  test.use({ locale: 'es-ES' });

  test('goes at a click, is not made again, and leaves the language as it is', async ({ page }) => {
    await open(page, '/');
    await page.getByRole('complementary').getByRole('button', { name: 'Cerrar' }).click();
    await expect(offers(page)).toHaveCount(0);
    expect(await stored(page)).toBe('en');
    await open(page, '/');
    expect(new URL(page.url()).pathname).toBe('/');
    await expect(offers(page)).toHaveCount(0);
  });

  test('is refused before the scripts have loaded', async ({ page }) => {
    const release = await holdAssets(page);
    await page.goto('/', { waitUntil: 'commit' });
    await page.getByRole('complementary').getByRole('button', { name: 'Cerrar' }).click();
    await expect(offers(page)).toHaveCount(0);
    release();
    await hydrated(page);
    await expect(offers(page)).toHaveCount(0);
  });

  test('follows a change of the page', async ({ page }) => {
    await open(page, '/');
    await page.getByRole('navigation', { name: 'Footer' }).getByRole('link', { name: 'Plans' }).click();
    await expect(offers(page)).toHaveAttribute('href', '/es/plans');
  });

  test('can be used by everybody, fits a narrow screen and stays off paper', async ({ page }) => {
    await open(page, '/plans');
    await expectToFit(page, 320);
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    await expect(offers(page)).toHaveCount(0);
  });
});

test.describe('the home page', () => {
  for (const [language, target] of [
    ['es', '/es/'],
    ['pt-BR', '/pt-br/'],
  ] as const)
    test(`opens in ${language} after a click on it in the footer, and no other page does`, async ({ page }) => {
      const { name } = languages.find(({ tag }) => tag === language)!;
      await open(page, '/');
      await page.getByRole('navigation', { name: 'Language' }).getByRole('link', { name }).click();
      await page.waitForURL(target);
      expect(await stored(page)).toBe(language);
      await page.goto('/?from=chat#plans');
      await page.waitForURL(`${target}?from=chat#plans`);
      await page.goto('/plans');
      await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    });

  for (const language of ['en', 'xx', 'constructor', ''])
    test(`stays English with “${language}” in local storage`, async ({ page }) => {
      await page.addInitScript((tag) => localStorage.setItem('language', tag), language);
      await open(page, '/');
      expect(new URL(page.url()).pathname).toBe('/');
      await expect(page.locator('html')).toHaveAttribute('lang', 'en');
      await expect(offers(page)).toHaveCount(0);
    });
});
