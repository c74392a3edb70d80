import type { Page } from 'playwright/test';
import { pageHead, pages } from '../../web/app/page-heads.ts';
import { holdAssets, openServedFirst, watchFirstPaint } from './support/first-paint.ts';
import {
  countVisits,
  expectToBeAccessible,
  expectToFit,
  open,
  installClock,
  settle,
  stopTime,
  follow,
} from './support/page.ts';
import { expect, fullUnless, isFull, test, unscripted, stubbed } from './support/test.ts';
import { chat, everyKind, pageOf } from './support/chat.ts';
import type { Stub } from './support/stub.ts';

/** The main headings of the public pages. */
const headings = {
  '/': 'Solace Your AI Companion for Psychological Well-Being',
  '/plans': 'Choose Your Plan',
  '/login': 'Log in to Solace',
  '/contact': 'Contact Us',
  '/withdraw': 'Withdraw from contract',
  '/terms': 'Terms and Conditions',
  '/privacy': 'Privacy Policy',
  '/help-now': 'Get help now',
  '/safety': 'Safety',
  '/nope': 'Page Not Found',
};

async function expectStoriesBelowEachOther(page: Page): Promise<void> {
  const stories = page
    .getByRole('list', { name: 'Stories from people who use it' })
    .getByRole('listitem');
  await expect(stories).toHaveCount(3);
  const tops = await stories.evaluateAll((items) =>
    items.map((item) => item.getBoundingClientRect().top),
  );
  expect(new Set(tops).size).toBe(3);
}

/** A page with all its parts, and one with a form; tests/build looks at the others, too. */
const chosen = ['/', '/login'];

for (const path of [...Object.keys(headings), '/account', '/cancel', '/chat'])
  unscripted(
    `${path} can be used without JavaScript`,
    fullUnless(chosen.includes(path)),
    async ({ page, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      await page.emulateMedia({
        reducedMotion: 'reduce',
        colorScheme: 'light',
      });
      await page.goto(path);
      if (pages[path]?.isPublic !== false)
        await expect(
          page.getByRole('contentinfo').getByRole('link', { name: 'Plans' }),
        ).toBeVisible();
      await expect(page.getByRole('button', { name: /^Switch to/ })).toBeHidden();
      if (['/login', '/contact', '/account', '/cancel', '/chat'].includes(path))
        await expect(page.getByText(/^Please turn on JavaScript/)).toBeVisible();
      if (path === '/') await expectStoriesBelowEachOther(page);
    },
  );

for (const [path, heading] of Object.entries(headings))
  test(
    `${path} is hydrated in place, fits a small screen and is accessible`,
    fullUnless(path === '/'),
    async ({ page, expectedErrors }) => {
      if (path === '/nope') expectedErrors.push(/status of 404/);
      const { servedHeading, seen } = await watchFirstPaint(page);
      // `routes.test.ts` has the other width.
      for (const width of isFull ? [1280, 412] : [412]) {
        await page.setViewportSize({ width, height: 900 });
        const moves = await openServedFirst(page, path);
        await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
        await expect(page).toHaveTitle(pageHead(path).title);
        expect(await servedHeading()).toBe(true);
        expect(await seen()).not.toMatch(/^Loading/m);
        expect(await moves()).toEqual([]);
      }
      if (path === '/help-now')
        await page.getByRole('combobox', { name: 'Country' }).selectOption('Switzerland');
      await page.locator('details').evaluateAll((all: HTMLDetailsElement[]) => {
        for (const details of all) details.open = true;
      });
      await expectToFit(page, 360, 320);
      await expectToBeAccessible(page);
    },
  );

test(
  'a page in the app is reached from a served one, also from the 404 page',
  { tag: '@full' },
  async ({ page, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const { servedHeading } = await watchFirstPaint(page);
    await open(page, '/?utm_source=letter#plans');
    expect(await servedHeading()).toBe(true);
    await page.getByRole('link', { name: 'View All Plans' }).click();
    await expect(
      page.getByRole('heading', {
        level: 1,
        name: 'Choose Your Plan',
      }),
    ).toBeFocused();
    await page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' }).click();
    await expect(page).toHaveTitle('Privacy Policy | Solace');
    await page.goBack();
    await expect(
      page.getByRole('heading', {
        level: 1,
        name: 'Choose Your Plan',
      }),
    ).toBeVisible();
    await page.reload();
    await expect(
      page.getByRole('heading', {
        level: 1,
        name: 'Choose Your Plan',
      }),
    ).toBeVisible();
    await page.goto('/some/where/else');
    await expect(
      page.getByText("The page you're looking for doesn't exist or has been moved."),
    ).toBeVisible();
    await follow(
      page.getByRole('link', { name: 'Return to Home' }),
      ({ pathname }) => pathname === '/',
    );
  },
);

test('every page has the strict headers, and every address its own status', async ({ request }) => {
  const get = (path: string, mode = 'navigate') =>
    request.get(path, {
      maxRedirects: 0,
      headers: { 'Sec-Fetch-Mode': mode },
    });
  for (const path of Object.keys(pages)) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 200]);
    const headers = response.headers();
    expect(headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe-inline');
    expect(headers['strict-transport-security']).toContain('max-age=31536000');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['permissions-policy']).toContain('camera=()');
  }
  for (const path of '/nope /plans/nope /Plans /wp-admin/setup.php /fr/ /fr/plans /es/nope /pt-br/nope'.split(
    ' ',
  )) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 404]);
    const title = path.startsWith('/es')
      ? 'No encontramos'
      : path.startsWith('/pt')
        ? 'Página não'
        : 'Page Not Found';
    expect(await response.text()).toMatch(new RegExp(`<h1[^>]*>${title}`));
  }
  for (const path of ['/assets/nope.js', '/nope.png']) {
    const response = await get(path, 'no-cors');
    expect([path, response.status()]).toEqual([path, 404]);
    expect(response.headers()['cache-control']).not.toContain('immutable');
  }
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await get('/')).text())![1]!;
  expect((await get(script, 'no-cors')).headers()['cache-control']).toBe(
    'public, max-age=31536000, immutable',
  );
  const icon = await request.get('/favicon.ico');
  expect([icon.status(), icon.headers()['content-type']]).toEqual([200, 'image/png']);
});

const offline = 'Unable to connect to server. Please check your internet connection.';

/** Opens the chat of somebody with a conversation, which shows whether or not the app starts. */
async function openFilledChat(page: Page, stub: Stub): Promise<void> {
  await stub.signedIn();
  stub.respond('getChat', pageOf(everyKind));
  await page.goto('/chat');
  await expect(chat.message(page, 'This one is new')).toBeVisible();
}

const isStarted = (page: Page) =>
  expect(page.getByLabel('Options of the conversation')).toBeVisible();

test('a page whose own file does not come stays as it was served', async ({
  page,
  expectedErrors,
}) => {
  expectedErrors.push(/./);
  await page.route('**/assets/*/plans.js', (route) => route.abort('internetdisconnected'));
  await page.goto('/plans');
  await expect(page.locator('html')).toHaveAttribute('data-visitor', 'unscripted');
  await settle(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(headings['/plans']);
});

stubbed('the app starts by itself once all its parts can be loaded', async ({ page, stub }) => {
  const html = await (await page.request.get('/chat')).text();
  const part = /<link rel="modulepreload"[^>]* href="([^"]+)"/.exec(html)![1]!;
  let isLost = true;
  await page.route(`**${part}`, (route) =>
    isLost ? route.abort('internetdisconnected') : route.fallback(),
  );
  let attempts = 0;
  await page.route('**/assets/**/index.js', (route) => {
    if (route.request().method() !== 'HEAD') return route.fallback();
    attempts += 1;
    return route.abort('internetdisconnected');
  });
  const visits = countVisits(page);
  await stopTime(page);
  await openFilledChat(page, stub);
  for (const attempt of [1, 2, 3]) {
    await expect.poll(() => attempts).toBe(attempt);
    await expect(page.getByText(offline)).toBeVisible();
    await settle(page);
    if (attempt < 3) await page.clock.runFor(5000);
  }
  await chat.field(page).fill('Not lost');
  isLost = false;
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await isStarted(page);
  await expect(page.getByText(offline)).toHaveCount(0);
  await expect(chat.field(page)).toHaveValue('Not lost');
  expect(visits()).toBe(1);
});

for (const [what, isBack] of Object.entries({
  'after a deployment': true,
  'if scripts stay missing': false,
}))
  stubbed(
    `the chat is loaded again, once, ${what}`,
    { tag: '@full' },
    async ({ page, stub, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      // A page is loaded again at most once a minute.
      await stopTime(page);
      const visits = countVisits(page);
      await page.route('**/assets/**/index.js', (route) =>
        isBack && visits() > 1 ? route.fallback() : route.fulfill({ status: 404 }),
      );
      await openFilledChat(page, stub);
      await expect.poll(visits).toBe(2);
      await (isBack
        ? isStarted(page)
        : expect(page.getByRole('button', { name: 'Refresh Page' })).toBeVisible());
      await expect(chat.message(page, 'This one is new')).toBeVisible();
      expect(visits()).toBe(2);
    },
  );

stubbed(
  'while a part does not arrive the page says that it is loading',
  { tag: '@full' },
  async ({ page }) => {
    await installClock(page);
    const release = await holdAssets(page, 'login.js');
    await page.goto('/login?plan=premium', { waitUntil: 'commit' });
    const sign = page.getByRole('main').getByText('Loading...');
    const isShownLater = () => page.clock.fastForward(10_000).then(() => sign.isVisible());
    await expect.poll(isShownLater).toBe(true);
    await expect(page.getByRole('banner')).toBeVisible();
    release();
    await expect(page.getByText('You chose the Premium plan.')).toBeVisible();
    await expect(page.getByText('Loading...')).toHaveCount(0);
  },
);
