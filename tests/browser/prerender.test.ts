import { layoutShift, watchFirstPaint } from './support/first-paint.ts';
import { open, publicPages } from './support/served-pages.ts';
import { signInByExternalToken, expect, test } from './support/test.ts';

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
