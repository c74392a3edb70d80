import type { Page } from 'playwright/test';
import { spoil } from './shared-contexts.ts';
import { Stub } from './stub.ts';
import { StubServer } from './stub-server.ts';
import { expect, test as base } from './test.ts';

/** A test whose API is a stub; dates are shown in UTC, and animations are off. */
export const test = base.extend<{ stub: Stub }, { stubServer: StubServer }>({
  timezoneId: 'UTC',
  contextOptions: { reducedMotion: 'reduce' },
  stubServer: [
    async ({}, use) => {
      const server = await StubServer.start(process.env.SITE_URL!);
      await use(server);
      await server.close();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ stubServer }, use) => use(stubServer.url),
  stub: [
    async ({ page, client, expectedErrors, stubServer }, use) => {
      const stub = new Stub(page, expectedErrors);
      const remove = stubServer.handle(client, (request, response) => stub.take(request, response));
      await use(stub);
      remove();
    },
    { auto: true },
  ],
});

export { expect };

/** Opens a path and waits until React has hydrated the page. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.waitForFunction(() =>
    Object.keys(document.querySelector('#root > *') ?? {}).some((key) => key.startsWith('__reactProps')),
  );
}

/** Stops the page's clock before it opens, so that the test controls it. */
export async function stopTime(page: Page, at = '2025-01-01T12:00:00Z'): Promise<void> {
  await installClock(page, { time: new Date(Date.parse(at) - 1000) });
  await page.clock.pauseAt(at);
}

/** Lets the test move the page's clock. Playwright cannot take a clock back, so the context is not used again. */
export async function installClock(page: Page, options: Parameters<Page['clock']['install']>[0] = {}): Promise<void> {
  spoil(page);
  await page.clock.install(options);
}

/** Waits until the stub has received every request that the page has sent; they arrive in their order. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => void (await fetch('/robots.txt')));
}

/** Fetches the profile again, as a return to the tab does. */
export async function returnToTab(page: Page): Promise<void> {
  const answered = page.waitForResponse(/\/api\/user\/me$/);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await answered;
  // A second fetch during the first one would be merged with it.
  await settle(page);
}

export const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('authToken'));

type Notice = readonly [title: string, description?: string];

/** Exactly these notices are shown, each once; `dismissNotices` removes them. */
export async function expectNotices(page: Page, ...notices: Notice[]): Promise<void> {
  const told = notices.map((notice) => notice.filter(Boolean).join(' / '));
  await expect.poll(() => readNotices(page)).toEqual(told);
  // A repeated notice would appear right after the first.
  await page.waitForTimeout(100);
  expect(await readNotices(page)).toEqual(told);
}

/** Closes the shown notices. */
export async function dismissNotices(page: Page): Promise<void> {
  const close = page.getByRole('button', { name: 'Dismiss' });
  await close.first().waitFor();
  // A closing toast moves, so it is not clicked by the mouse.
  await close.evaluateAll((buttons: HTMLElement[]) => buttons.forEach((button) => button.click()));
  await expect(close).toHaveCount(0);
}

const readNotices = (page: Page) =>
  page
    .locator('[data-scope=toast][data-part=root][data-state=open]')
    .evaluateAll((toasts) =>
      toasts
        .map((toast) =>
          [...toast.querySelectorAll('[data-part=title], [data-part=description]')]
            .map(({ textContent }) => textContent)
            .join(' / '),
        )
        .toSorted(),
    );
