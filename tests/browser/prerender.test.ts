import type { Page } from 'playwright/test';
import { holdAssets, layoutShift, scriptsHaveRun, watchFirstPaint } from './support/first-paint.ts';
import { hydrated, open } from './support/page.ts';
import { expect, test } from './support/test.ts';

/** The public pages and their main headings. */
const publicPages = [
  ['/', 'Solace Your AI Companion for Psychological Well-Being'],
  ['/plans', 'Choose Your Plan'],
  ['/login', 'Log in to Solace'],
  ['/contact', 'Contact Us'],
  ['/terms', 'Terms and Conditions'],
  ['/privacy', 'Privacy Policy'],
  ['/help-now', 'Get help now'],
  ['/safety', 'Safety'],
  ['/nope', 'Page Not Found'],
] as const;

const privatePages = [
  '/account',
  '/pending-approval',
  '/payment-success',
  '/payment-canceled',
  '/auth/stripe-success',
  '/payment-details-saved',
  '/activate-trial',
];

/** Adds the whole stylesheet to the styles in the HTML; the kinds of elements that then look different. */
async function changedByStylesheet(page: Page): Promise<string[]> {
  const looks = () =>
    page.evaluateHandle(() => {
      const ofEachKind = new Map(
        [...document.body.querySelectorAll('*')].map((one) => [one.tagName + one.getAttribute('class'), one]),
      );
      const styleOf = (element: Element, part?: string) => {
        const style = getComputedStyle(element, part);
        const names = [...style].filter((name) => !name.startsWith('--'));
        return names.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
      };
      return [...ofEachKind].map(([kind, one]) => ({
        kind,
        look: [undefined, '::before', '::after'].map((part) => styleOf(one, part)).join('|'),
      }));
    });
  const served = await looks();
  await page.locator('head').evaluate((head) => {
    const file = /\/assets\/[\w-]+\.css/.exec(head.innerHTML)?.[0] ?? '';
    head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: file }));
  });
  await expect.poll(() => page.locator('head').evaluate(() => document.styleSheets.length)).toBe(2);
  const styled = await looks();
  return page.evaluate(
    ({ before, after }) => after.filter(({ look }, index) => look !== before[index]?.look).map(({ kind }) => kind),
    { before: served, after: styled },
  );
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  for (const [path, title] of publicPages)
    test(`${path} can be read, and looks as with the whole stylesheet`, async ({ page, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Plans' })).toBeVisible();
      await expect(page.getByRole('button', { name: /^Switch to/ })).toBeHidden();
      expect(await changedByStylesheet(page)).toEqual([]);
    });

  for (const path of ['/account', '/chat'])
    test(`${path} looks as with the whole stylesheet`, async ({ page }) => {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(path);
      expect(await changedByStylesheet(page)).toEqual([]);
    });

  test('all testimonials are shown', async ({ page }) => {
    await page.goto('/');
    const testimonials = page.getByRole('list', { name: 'Stories from people who use it' }).getByRole('listitem');
    await expect(testimonials).toHaveCount(3);
    const tops = await testimonials.evaluateAll((items) => items.map((item) => item.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(3);
  });

  test('the system decides about colours', async ({ page }) => {
    const paper = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('/');
    const light = await paper();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await paper()).not.toBe(light);
  });

  for (const path of ['/login', '/contact', '/account']) {
    test(`${path} says what it needs`, async ({ page }) => {
      await page.goto(path);
      await expect(page.getByText(/^Please turn on JavaScript/)).toBeVisible();
    });
  }
});

for (const viewport of [
  { width: 412, height: 915 },
  { width: 1280, height: 900 },
]) {
  test.describe(`${viewport.width} pixels wide`, () => {
    test.use({ viewport });

    for (const [path, title] of publicPages) {
      test(`${path} is hydrated in place`, async ({ page, expectedErrors }) => {
        if (path === '/nope') expectedErrors.push(/status of 404/);
        const { servedHeading, spinners } = await watchFirstPaint(page);
        await open(page, path);
        await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
        expect(await servedHeading()).toBe(true);
        expect(await spinners()).toEqual([]);
        expect(await layoutShift(page)).toBe(0);
        await page.getByRole('button', { name: 'Switch to dark colours' }).click();
        await expect(page.getByRole('button', { name: 'Switch to light colours' })).toBeVisible();
      });
    }
  });
}

test('the app starts when the whole stylesheet applies', async ({ page }) => {
  const release = await holdAssets(page, '.css');
  await page.goto('/', { waitUntil: 'commit' });
  await page.locator('link[rel=stylesheet]').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  await scriptsHaveRun(page);
  await expect(page.locator('html')).not.toHaveAttribute('data-theme');
  release();
  await hydrated(page);
  expect(await layoutShift(page)).toBe(0);
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('the app starts without the stylesheet if that cannot be loaded', async ({ page, expectedErrors }) => {
  expectedErrors.push(/ERR_FAILED/);
  await page.route('**/assets/**/*.css', (route) => route.abort());
  await page.goto('/');
  await expect(page.getByRole('button', { name: /^Switch to/ })).toBeVisible();
});

test('campaign parameters in the address change nothing', async ({ page }) => {
  const { servedHeading } = await watchFirstPaint(page);
  await open(page, '/?utm_source=letter#plans');
  expect(await servedHeading()).toBe(true);
});

test('a page in the app is reached from one that was served', async ({ page }) => {
  await open(page, '/');
  await page.getByRole('link', { name: 'View All Plans' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Choose Your Plan' })).toBeFocused();
  await page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' }).click();
  await expect(page).toHaveTitle('Privacy Policy | Solace');
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Choose Your Plan' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Choose Your Plan' })).toBeVisible();
});

test('every address answers with its own status', async ({ request, baseURL }) => {
  const get = async (path: string, navigates = true) =>
    request.get(baseURL + path, {
      maxRedirects: 0,
      headers: { 'Sec-Fetch-Mode': navigates ? 'navigate' : 'no-cors', Accept: navigates ? 'text/html' : '*/*' },
    });
  const known = [...publicPages.map(([path]) => path).filter((path) => path !== '/nope'), ...privatePages];
  for (const path of known) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 200]);
    expect(response.headers()['cache-control']).toBe('public, max-age=0, must-revalidate');
  }
  for (const path of ['/nope', '/plans/nope', '/Plans', '/wp-admin/setup.php']) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 404]);
    expect(await response.text()).toContain('Page Not Found');
  }
  for (const path of ['/assets/nope.js', '/nope.png']) {
    const response = await get(path, false);
    expect([path, response.status()]).toEqual([path, 404]);
    expect(response.headers()['cache-control']).not.toContain('immutable');
  }
});

test('assets are cached for good, pages are not', async ({ request, baseURL }) => {
  const html = await (await request.get(`${baseURL}/`)).text();
  const part = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  const response = await request.get(`${baseURL}${part}`);
  expect(response.headers()['cache-control']).toBe('public, max-age=31536000, immutable');
});
