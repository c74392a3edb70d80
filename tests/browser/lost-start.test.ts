import type { Page } from 'playwright/test';
import { chat, everyKind, pageOf } from './support/chat.ts';
import { holdAssets } from './support/first-paint.ts';
import { installClock, settle, stopTime } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, stubbed as test } from './support/test.ts';

const offline = 'Unable to connect to server. Please check your internet connection.';

/** Opens the chat of somebody with a conversation, which shows whether or not the app starts. */
async function openFilledChat(page: Page, stub: Stub): Promise<void> {
  await stub.signedIn();
  stub.respond('getChat', pageOf(everyKind));
  await page.goto('/chat');
  await expect(chat.message(page, 'This one is new')).toBeVisible();
}

/** The number of visits of the page from now on, reloads included. */
function countVisits(page: Page): () => number {
  let visits = 0;
  page.on('request', (request) => (visits += request.isNavigationRequest() ? 1 : 0));
  return () => visits;
}

const isStarted = (page: Page) => expect(page.getByLabel('Options of the conversation')).toBeVisible();

test('the app starts by itself once all its parts can be loaded', async ({ page, stub }) => {
  const html = await (await page.request.get('/chat')).text();
  const part = /<link rel="modulepreload"[^>]* href="([^"]+)"/.exec(html)![1]!;
  let isLost = true;
  await page.route(`**${part}`, (route) => (isLost ? route.abort('internetdisconnected') : route.fallback()));
  let attempts = 0;
  await page.route('**/assets/**/index-*.js', (route) => {
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

for (const [what, isBack] of [
  ['after a deployment', true],
  ['if scripts stay missing', false],
] as const)
  test(`the chat is loaded again, once, ${what}`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    // A page is loaded again at most once a minute.
    await stopTime(page);
    const visits = countVisits(page);
    await page.route('**/assets/**/index-*.js', (route) =>
      isBack && visits() > 1 ? route.fallback() : route.fulfill({ status: 404 }),
    );
    await openFilledChat(page, stub);
    await expect.poll(visits).toBe(2);
    await (isBack ? isStarted(page) : expect(page.getByRole('button', { name: 'Refresh Page' })).toBeVisible());
    await expect(chat.message(page, 'This one is new')).toBeVisible();
    expect(visits()).toBe(2);
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
