import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Locator, type Page } from 'playwright/test';
import { spoil } from './contexts.ts';
import type { Person, Stub } from './stub.ts';

/** Opens a path and waits until everything has loaded and React has hydrated the page. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await hydrated(page);
}

/** Opens the account of a signed-in person. */
export async function openAccount(page: Page, stub: Stub, person?: Person): Promise<void> {
  await stub.signedIn(person);
  await open(page, '/account');
}

/** The number of visits of the page from now on, reloads included. */
export function countVisits(page: Page): () => number {
  let visits = 0;
  page.on('request', (request) => (visits += request.isNavigationRequest() ? 1 : 0));
  return () => visits;
}

/** Clicks a link or a button, and waits for the page to which it leads. */
export async function follow(link: Locator, url: Parameters<Page['waitForURL']>[0]): Promise<void> {
  await link.click();
  await link.page().waitForURL(url);
}

/** Waits until React has hydrated the page, or the element with this selector, and its fonts have loaded. */
export async function hydrated(page: Page, selector = '#root > *'): Promise<void> {
  await page.waitForFunction(
    (of) =>
      Object.keys(document.querySelector(of) ?? {}).some((key) => key.startsWith('__reactProps')),
    selector,
  );
  await page.evaluate(async () => void (await document.fonts.ready));
}

/** Stops the page's clock before it opens, so that the test controls it. */
export async function stopTime(page: Page, at = '2025-01-01T12:00:00Z'): Promise<void> {
  // The clock runs until it stands, for as long as a busy machine takes.
  await installClock(page, { time: new Date(Date.parse(at) - 3_600_000) });
  await page.clock.pauseAt(at);
}

/** Lets the test move the page's clock. Playwright cannot take a clock back, so the context is not used again. */
export async function installClock(
  page: Page,
  options: Parameters<Page['clock']['install']>[0] = {},
): Promise<void> {
  spoil(page);
  await page.clock.install(options);
}

/** Hides the page or shows it again, as another tab in front of it or a locked phone does. */
export const setVisible = (page: Page, isVisible: boolean) =>
  page.evaluate((visible) => {
    Object.defineProperty(document, 'hidden', {
      configurable: true,
      value: !visible,
    });
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      value: visible ? 'visible' : 'hidden',
    });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, isVisible);

/** Fetches the profile again, as a return to the tab does. */
export async function returnToTab(page: Page): Promise<void> {
  const answered = page.waitForResponse(/\/api\/user\/me$/);
  await setVisible(page, true);
  await answered;
  // A second fetch during the first one would be merged with it.
  await settle(page);
}

/** Deletes the account of the page, and confirms it. */
export async function deleteAccount(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete Account' }).click();
}

export const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('authToken'));

/**
 * Waits for the response to a request that the page sends now, and for React to render: what the page did and received
 * before has then had its effect. No timer is involved, so it works while the clock stands still.
 */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const turn = () => {
      const { port1, port2 } = new MessageChannel();
      return new Promise((resolve) => {
        port1.addEventListener('message', resolve, { once: true });
        port1.start();
        port2.postMessage(null);
      });
    };
    for (let round = 0; round < 2; round += 1) {
      await fetch('/robots.txt', { cache: 'no-store' });
      await turn();
      await turn();
    }
  });
}

type Toast = readonly [title: string, description?: string];
type Shown = { text: string; type: string };

declare global {
  interface Window {
    shownToasts: Map<string, Shown>;
  }
}

const root = '[data-scope=toast][data-part=root]';

/** Records every toast of the pages that this one opens, because a toast disappears after some seconds. */
export async function watchToasts(page: Page): Promise<void> {
  await page.addInitScript((selector) => {
    const shown = new Map<string, Shown>();
    window.shownToasts = shown;
    const look = () => {
      for (const toast of document.querySelectorAll<HTMLElement>(selector)) {
        const parts = [...toast.querySelectorAll('[data-part=title], [data-part=description]')];
        const text = parts.map(({ textContent }) => textContent).join(' / ');
        if (text && !shown.has(toast.id))
          shown.set(toast.id, {
            text,
            type: toast.dataset['type'] ?? '',
          });
      }
    };
    new MutationObserver(look).observe(document, {
      childList: true,
      subtree: true,
    });
  }, root);
}

/** Since the page was loaded or `takeToasts` exactly these toasts were shown, each once. */
export async function expectToasts(page: Page, ...toasts: Toast[]): Promise<void> {
  const expected = toasts.map((toast) => toast.filter(Boolean).join(' / ')).toSorted();
  const texts = async () => (await shownToasts(page)).map(({ text }) => text).toSorted();
  await expect.poll(texts, 'the toasts').toEqual(expected);
  // A repeated toast would be shown with the first, or after the responses that are on their way.
  await settle(page);
  expect(await texts(), 'the toasts after all responses').toEqual(expected);
}

/** As `expectToasts`; then closes the toasts and empties the record. */
export async function takeToasts(page: Page, ...toasts: [Toast, ...Toast[]]): Promise<void> {
  await expectToasts(page, ...toasts);
  const close = page.getByRole('button', { name: 'Dismiss' });
  // A closing toast moves, so it is not clicked by the mouse.
  await close.evaluateAll((buttons: HTMLElement[]) => buttons.forEach((button) => button.click()));
  await expect(close).toHaveCount(0);
  await page.evaluate(() => window.shownToasts.clear());
}

export const shownToasts = (page: Page): Promise<Shown[]> =>
  page.evaluate(() => [...window.shownToasts.values()]);

/** What the page shows and says: its title, texts and labels, parts in another language aside. */
export const ownTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isOwn = (element: Element | null) =>
      element?.closest('[lang]') === document.documentElement &&
      !element.closest('script, style, template, noscript');
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      if (isOwn(walker.currentNode.parentElement)) texts.push(walker.currentNode.nodeValue!);
    for (const name of ['aria-label', 'placeholder', 'alt', 'title'])
      for (const element of document.body.querySelectorAll(`[${name}]`))
        if (isOwn(element)) texts.push(element.getAttribute(name)!);
    return texts.map((text) => text.trim()).filter(Boolean);
  });

/** What axe finds wrong with the page, and where. */
export async function violations(page: Page, ...rules: string[]): Promise<string[]> {
  // What passes is of no use, and no page has a frame, for which the other mode opens one more page.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  const found = (await (rules.length > 0 ? axe.withRules(rules) : axe).analyze()).violations;
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}

/** axe finds nothing in light colours, and no contrast that is too low in dark ones: the themes differ in nothing else. */
export async function expectToBeAccessible(page: Page): Promise<void> {
  await changeColours(page, 'light');
  expect(await violations(page)).toEqual([]);
  await changeColours(page, 'dark');
  expect(await violations(page, 'color-contrast')).toEqual([]);
}

/** A colour that is still changing has too little contrast. */
export async function changeColours(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(() => {
    for (const animation of document.getAnimations())
      if (animation instanceof CSSTransition) animation.finish();
  });
}

/** The page is at most as wide as each of these screens, in pixels. */
export async function expectToFit(page: Page, ...widths: number[]): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const actual = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(actual, `the width of the page on a screen of ${width} pixels`).toBeLessThanOrEqual(
      width,
    );
  }
}
