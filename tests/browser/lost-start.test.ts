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

for (const { path, shown, started } of pages) {
  test(`${path}: without a connection after the HTML the page shows what it has, and goes on by itself`, async ({
    page,
    stub,
    expectedErrors,
  }) => {
    expectedErrors.push(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
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

  test(`${path}: after a deployment during the visit the page is loaded again, once`, async ({
    page,
    stub,
    expectedErrors,
  }) => {
    expectedErrors.push(/status of 404/);
    const visits = await openWithoutScript(page, stub, path, 1);
    await hydrated(page);
    await expect(started(page)).toBeVisible();
    expect(visits()).toBe(2);
  });

  test(`${path}: scripts that stay missing leave the page as it is, and it says so`, async ({
    page,
    stub,
    expectedErrors,
  }) => {
    expectedErrors.push(/status of 404/);
    const visits = await openWithoutScript(page, stub, path, Infinity);
    await expect.poll(visits).toBe(2);
    await expect(page.getByText(shown).first()).toBeVisible();
    await expect(page.getByRole('button', { name: 'Refresh Page' })).toBeVisible();
    expect(visits()).toBe(2);
  });
}

/** Opens a page whose entry script is missing on the first visits; returns the number of visits. */
async function openWithoutScript(page: Page, stub: Stub, path: string, times: number): Promise<() => number> {
  // A page is loaded again at most once a minute.
  await stopTime(page);
  await signedIn(stub);
  const visits = countVisits(page);
  await page.route('**/assets/**/index-*.js', (route) =>
    visits() <= times ? route.fulfill({ status: 404 }) : route.fallback(),
  );
  await page.goto(path);
  return visits;
}

test('the app does not start without one of its parts, and the messages stay', async ({
  page,
  stub,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
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

test('/login?plan=premium: while a part does not arrive the page says that it is loading', async ({ page }) => {
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

for (const visitor of ['guest', 'member'])
  test(`without the scripts a ${visitor} sees the served page`, async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
    if (visitor === 'member') await stub.signedIn();
    await page.route('**/assets/**/index-*.js', (route) => route.abort('internetdisconnected'));
    for (const [path, heading] of [
      ['/login?plan=premium', 'Log in to Solace'],
      ['/login', 'Log in to Solace'],
      ['/cancel', 'Cancel subscription'],
    ] as const) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1, name: heading }), path).toBeVisible();
      await expect(page.getByRole('banner'), path).toBeVisible();
    }
  });

test('/cancel: a guest sees nothing but the login', async ({ page }) => {
  const release = await holdAssets(page, 'login-*.js');
  const requested = page.waitForRequest('**/login-*.js');
  await page.goto('/cancel', { waitUntil: 'commit' });
  await requested;
  await expect(page.getByRole('heading', { level: 1, includeHidden: true })).toHaveText('Cancel subscription');
  await expect(page.getByRole('heading', { level: 1 })).toBeHidden();
  release();
  await expect(page.getByRole('heading', { level: 1, name: 'Log in to Solace' })).toBeVisible();
});
