import type { Page } from 'playwright/test';
import { layoutShift, watchFirstPaint } from './support/first-paint.ts';
import { signInByExternalToken, expect, test } from './support/test.ts';

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

/** Opens a path and waits until loading has ended and React has hydrated the page. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' });
  await expect(page.getByRole('button', { name: /^Switch to/ })).toBeVisible();
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  for (const [path, title] of publicPages) {
    test(`${path} can be read`, async ({ page, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Plans' })).toBeVisible();
      await expect(page.getByRole('button', { name: /^Switch to/ })).toBeHidden();
    });
  }

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

  test('all testimonials are shown', async ({ page }) => {
    await page.goto('/');
    const voices = page.getByRole('list', { name: 'Stories from people who use it' }).getByRole('listitem');
    await expect(voices).toHaveCount(3);
    const tops = await voices.evaluateAll((items) => items.map((item) => item.getBoundingClientRect().top));
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

    for (const path of ['/', '/plans', '/terms']) {
      test(`${path} does not move when a session is restored`, async ({ page, phone }) => {
        await signInByExternalToken(page, phone);
        let answer = () => {};
        const asked = new Promise<void>((resolve) => (answer = resolve));
        await page.route('**/api/user/me', async (route) => asked.then(() => route.fallback()));
        await page.goto(path);
        const way = page.getByRole('navigation', { name: 'Main' }).getByRole('link').last();
        await expect(way).toHaveText(/My Account$/);
        await expect(page.getByRole('link', { name: 'Login', exact: true })).toBeHidden();
        await expect(page.getByText('Loading application...')).toBeVisible();
        answer();
        await expect(way).toHaveAttribute('href', '/account');
        await expect(page.getByText('Loading application...')).toBeHidden();
        expect(await layoutShift(page)).toBe(0);
      });
    }
  });
}

for (const width of [360, 412, 768, 1280]) {
  test(`the account and the chat do not move while they load, ${width} pixels wide`, async ({ page, phone }) => {
    await page.setViewportSize({ width, height: 900 });
    await signInByExternalToken(page, phone);
    await page.goto('/account');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await expect(page.getByRole('radio').first()).toBeAttached();
    expect(await layoutShift(page)).toBe(0);
    await page.goto('/chat');
    await expect(page.getByRole('checkbox').first()).toBeVisible();
    expect(await layoutShift(page)).toBe(0);
  });
}

test('the login form is not shown to a returning user', async ({ page, phone }) => {
  await signInByExternalToken(page, phone);
  const { seen } = await watchFirstPaint(page);
  await page.goto('/login');
  await page.waitForURL('**/account');
  await expect(page.getByText('1 / 5')).toBeVisible();
  expect(await seen()).not.toContain('Log in to Solace');
});

test('a number typed and sent before hydration is sent afterwards', async ({ page, phone }) => {
  let go = () => {};
  const late = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/assets/*.js', async (route) => late.then(() => route.fallback()));
  await page.goto('/login', { waitUntil: 'commit' });
  await page.getByLabel('Phone number').fill(phone.number);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  expect(new URL(page.url()).search).toBe('');
  go();
  await page.waitForLoadState('networkidle');
  await expect(page.getByRole('heading', { name: "We haven't seen this number on WhatsApp yet..." })).toBeVisible();
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

test('the plan of the address is shown without a mismatch', async ({ page }) => {
  await open(page, '/login?plan=premium');
  await expect(page.getByText('You chose the Premium plan.')).toBeVisible();
  expect(await layoutShift(page)).toBe(0);
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
