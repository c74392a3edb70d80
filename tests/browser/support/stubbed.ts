import type { Page } from 'playwright/test';
import { Stub } from './stub.ts';
import { expect, test as base } from './test.ts';

/** A test whose API is a stub; dates are read in UTC, and nothing moves. */
export const test = base.extend<{ stub: Stub }>({
  timezoneId: 'UTC',
  contextOptions: { reducedMotion: 'reduce' },
  stub: [
    async ({ page, expectedErrors }, use) => {
      const stub = new Stub(page, expectedErrors);
      await stub.start();
      await use(stub);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
    { auto: true },
  ],
});

export { expect };

/** Opens a path and waits until the page listens. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.waitForFunction(() =>
    Object.keys(document.querySelector('#root > *') ?? {}).some((key) => key.startsWith('__reactProps')),
  );
}

/** Stops the page's time before it opens, so that a test can say how much of it passes. */
export async function stopTime(page: Page, at = '2025-01-01T12:00:00Z'): Promise<void> {
  await page.clock.install({ time: new Date(Date.parse(at) - 1000) });
  await page.clock.pauseAt(at);
}

/** Until every request that the page has begun is known to the stub: they come in the order in which they were made. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => void (await fetch('/robots.txt')));
}

/** Reads the profile once more, as when a person comes back to the tab. */
export async function returnToTab(page: Page): Promise<void> {
  const answered = page.waitForResponse(/\/api\/user\/me$/);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await answered;
  // A second look that comes before the first has ended would be one with it.
  await settle(page);
}

export const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('authToken'));

type Notice = readonly [title: string, description?: string];

/** Exactly these notices stand on the screen, and not one of them twice; `dismissNotices` makes room for the next. */
export async function expectNotices(page: Page, ...notices: Notice[]): Promise<void> {
  const told = notices.map((notice) => notice.filter(Boolean).join(' / '));
  await expect.poll(() => readNotices(page)).toEqual(told);
  // A second telling would come right after the first.
  await page.waitForTimeout(100);
  expect(await readNotices(page)).toEqual(told);
}

/** Closes what was told, once it has been. */
export async function dismissNotices(page: Page): Promise<void> {
  const close = page.getByRole('button', { name: 'Dismiss' });
  await close.first().waitFor();
  // A toast on its way out moves, so it is not pressed by the mouse.
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
