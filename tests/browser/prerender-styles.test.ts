import { layoutShift } from './support/first-paint.ts';
import { publicPages } from './support/served-pages.ts';
import { expect, test } from './support/test.ts';

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  for (const [path] of [...publicPages, ['/account'] as const, ['/chat'] as const]) {
    test(`${path} looks as with the whole stylesheet`, async ({ page, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(path);
      const looks = () =>
        page.locator('body *').evaluateAll((elements) => {
          const ofEachKind = new Map(
            elements.map((element) => [element.tagName + element.getAttribute('class'), element]),
          );
          return [...ofEachKind].flatMap(([kind, element]) =>
            [undefined, '::before', '::after'].map((part) => {
              const style = getComputedStyle(element, part);
              const names = [...style].filter((name) => !name.startsWith('--'));
              return kind + names.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
            }),
          );
        });
      const served = await looks();
      await page.locator('head').evaluate((head) => {
        const file = /\/assets\/[\w-]+\.css/.exec(head.innerHTML)?.[0] ?? '';
        head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: file }));
      });
      await expect.poll(() => page.locator('head').evaluate(() => document.styleSheets.length)).toBe(2);
      expect(await looks()).toEqual(served);
    });
  }
});

test('the app starts when the whole stylesheet applies', async ({ page }) => {
  let go = () => {};
  const late = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/assets/*.css', async (route) => late.then(() => route.fallback()));
  await page.goto('/', { waitUntil: 'commit' });
  await page.locator('link[rel=stylesheet]').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  await page.waitForTimeout(500);
  await expect(page.locator('html')).not.toHaveAttribute('data-theme');
  go();
  await page.waitForLoadState('networkidle');
  expect(await layoutShift(page)).toBe(0);
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('the app starts without the stylesheet if that cannot be loaded', async ({ page, expectedErrors }) => {
  expectedErrors.push(/ERR_FAILED/);
  await page.route('**/assets/*.css', (route) => route.abort());
  await page.goto('/');
  await expect(page.getByRole('button', { name: /^Switch to/ })).toBeVisible();
});
