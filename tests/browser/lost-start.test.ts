import type { Page } from 'playwright/test';
import { chat, everyKind, pageOf } from './support/chat.ts';
import { holdAssets } from './support/first-paint.ts';
import { hydrated, installClock, settle, stopTime } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';

const offline = 'Unable to connect to server. Please check your internet connection.';

const pages = [
  {
    path: '/account',
    shown: 'Free plan - upgrade to get full access',
    started: (page: Page) => page.getByRole('button', { name: 'Logout' }),
  },
  { path: '/chat', shown: 'This one is new', started: (page: Page) => page.getByLabel('Options of the conversation') },
];

async function signedIn(stub: Stub): Promise<void> {
  await stub.signedIn();
  stub.respond('getChat', pageOf(everyKind));
}

/** The number of visits of the page from now on, reloads included. */
function countVisits(page: Page): () => number {
  let visits = 0;
  page.on('request', (request) => (visits += request.isNavigationRequest() ? 1 : 0));
  return () => visits;
}

const lost = /ERR_INTERNET_DISCONNECTED|ERR_FAILED/;

for (const { path, shown, started } of pages) {
  test(`${path} goes on by itself after a lost connection`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(lost);
    await signedIn(stub);
    let isLost = true;
    await page.route('**/assets/**', (route) => (isLost ? route.abort('internetdisconnected') : route.fallback()));
    await page.goto(path);
    await expect(page.getByText(shown).first()).toBeVisible();
    await expect(page.getByText(offline)).toBeVisible();
    const draft = path === '/chat' ? chat.field(page) : null;
    await draft?.fill('Not lost');
    isLost = false;
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await hydrated(page);
    await expect(started(page)).toBeVisible();
    await expect(page.getByText(offline)).toHaveCount(0);
    if (draft) await expect(draft).toHaveValue('Not lost');
  });

  for (const [what, isBack] of [
    ['after a deployment', true],
    ['if scripts stay missing', false],
  ] as const)
    test(`${path} is loaded again, once, ${what}`, async ({ page, stub, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      // A page is loaded again at most once a minute.
      await stopTime(page);
      await signedIn(stub);
      const visits = countVisits(page);
      await page.route('**/assets/**/index-*.js', (route) =>
        isBack && visits() > 1 ? route.fallback() : route.fulfill({ status: 404 }),
      );
      await page.goto(path);
      await expect.poll(visits).toBe(2);
      await expect(page.getByText(shown).first()).toBeVisible();
      await expect(isBack ? started(page) : page.getByRole('button', { name: 'Refresh Page' })).toBeVisible();
      expect(visits()).toBe(2);
    });
}

test('the app does not start without one of its parts', async ({ page, stub, expectedErrors }) => {
  expectedErrors.push(lost);
  await signedIn(stub);
  const html = await (await page.request.get('/chat')).text();
  const part = /<link rel="modulepreload"[^>]* href="([^"]+)"/.exec(html)![1]!;
  await page.route(`**${part}`, (route) => route.abort('internetdisconnected'));
  let attempts = 0;
  await page.route('**/assets/**/index-*.js', (route) => {
    if (route.request().method() !== 'HEAD') return route.fallback();
    attempts += 1;
    return route.abort('internetdisconnected');
  });
  const visits = countVisits(page);
  await stopTime(page);
  await page.goto('/chat');
  for (const attempt of [1, 2, 3]) {
    await expect.poll(() => attempts).toBe(attempt);
    await expect(page.getByText(offline)).toBeVisible();
    await settle(page);
    await page.clock.runFor(5000);
  }
  await expect(page.getByText('This one is new')).toBeVisible();
  expect(visits()).toBe(1);
});

test('while a part does not arrive the page says that it is loading', async ({ page }) => {
  await installClock(page);
  const release = await holdAssets(page, 'login-*.js');
  await page.goto('/login?plan=premium', { waitUntil: 'commit' });
  const sign = page.getByRole('main').getByText('Loading...');
  const isShownLater = () => page.clock.fastForward(10_000).then(() => sign.isVisible());
  await expect.poll(isShownLater).toBe(true);
  await expect(page.getByRole('banner')).toBeVisible();
  release();
  await expect(page.getByText('You chose the Premium plan.')).toBeVisible();
  await expect(page.getByText('Loading...')).toHaveCount(0);
});
