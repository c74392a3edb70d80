import { expect, type Page } from 'playwright/test';
import { hydrated, settle } from './page.ts';

declare global {
  interface Window {
    served: Element | null;
    texts: string[];
    sawField: boolean;
  }
}

/** Records, from the first byte on, the served heading, the texts of each frame, and whether a message field was there. */
export async function watchFirstPaint(page: Page) {
  await page.addInitScript(() => {
    Object.assign(window, {
      served: null,
      texts: [],
      sawField: false,
    });
    const note = () => {
      window.served ??= document.querySelector('h1');
      window.sawField ||= document.querySelector('main textarea') !== null;
    };
    const look = () => {
      note();
      const text = document.body?.innerText ?? '';
      if (window.texts.at(-1) !== text) window.texts.push(text);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    new MutationObserver(note).observe(document, {
      childList: true,
      subtree: true,
    });
  });
  const seen = async () => (await page.evaluate(() => window.texts)).join('\n');
  return {
    seen,
    /** Whether the served heading element is still on the page. */
    servedHeading: () => page.evaluate(() => window.served === document.querySelector('h1')),
    sawField: () => page.evaluate(() => window.sawField),
  };
}

/** Holds the files of the app whose names end so (`*` stands for any text), as on a slow line with an empty cache, until the returned function is called. */
export async function holdAssets(page: Page, ending = '.js'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(`**/assets/**/*${ending}`, async (route) =>
    promise.then(() => route.fallback()),
  );
  return resolve;
}

/** Opens a page whose app and fonts load once all of the served HTML is shown, and watches for what moves from then on. */
export async function openServedFirst(page: Page, path: string): Promise<Moves> {
  const releases = [await holdAssets(page, '.js'), await holdAssets(page, '.woff2')];
  await page.goto(path, { waitUntil: 'commit' });
  const moves = await watchMoves(page);
  for (const release of releases) release();
  await hydrated(page);
  return moves;
}

/** Waits until all scripts that the page names have loaded and run. The page's clock must not be installed. */
export async function scriptsHaveRun(page: Page): Promise<void> {
  const missing = () =>
    page.evaluate(() => {
      const loaded = new Set(performance.getEntriesByType('resource').map(({ name }) => name));
      const links = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload], link#app');
      const named = links.length > 0 ? [...links].map(({ href }) => href) : ['no script'];
      return named.filter((href) => !loaded.has(href));
    });
  await expect.poll(missing, 'the scripts that have not loaded').toEqual([]);
  await settle(page);
}

/** What has moved until now, by Chromium: the element, and its place before and after. Not while a button of the mouse is down: its moves are not reported then. */
export type Moves = () => Promise<string[]>;

/** Watches for what moves once all of the served HTML is shown: before, a busy browser shows a page in the parts in which it reads it. */
export async function watchMoves(page: Page): Promise<Moves> {
  await page.waitForFunction(() => document.readyState !== 'loading');
  const watched = await page.evaluateHandle(() => {
    const marker = document.createElement('div');
    marker.textContent = 'marker';
    marker.hidden = true;
    Object.assign(marker.style, {
      position: 'fixed',
      top: '0',
      left: '0',
      zIndex: '9999',
    });
    const state = {
      moves: [] as string[],
      marked: false,
      marker: document.body.appendChild(marker),
    };
    const isMarker = ({ node }: Move) => node === marker || node?.parentNode === marker;
    const placeOf = ({ x, y, width, height }: DOMRectReadOnly) =>
      `${width} x ${height} at ${x}, ${y}`;
    const describe = ({ node, previousRect, currentRect }: Move) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const name = element?.outerHTML.slice(0, 200) ?? 'an element that is gone';
      return `${name}: ${placeOf(previousRect)}, then ${placeOf(currentRect)}`;
    };
    new PerformanceObserver((list) => {
      const sources = list.getEntries().flatMap((entry) => (entry as Shift).sources);
      state.marked ||= sources.some(isMarker);
      state.moves.push(...sources.filter((move) => !isMarker(move)).map(describe));
    }).observe({ type: 'layout-shift' });
    return state;
  });

  /** Moves the marker until a frame has shown it at two places: every shift before has been reported. */
  async function untilReported(): Promise<string[]> {
    await watched.evaluate((state) => {
      state.marked = false;
      state.marker.hidden = false;
    });
    const move = () =>
      watched.evaluate(({ marked, marker }) => {
        marker.style.top = marker.style.top === '200px' ? '0' : '200px';
        return marked;
      });
    await expect.poll(move, 'the shift of the marker').toBe(true);
    return watched.evaluate(({ moves, marker }) => {
      marker.hidden = true;
      return moves;
    });
  }

  const { length } = await untilReported();
  return async () => (await untilReported()).slice(length);
}

type Move = {
  node: Node | null;
  previousRect: DOMRectReadOnly;
  currentRect: DOMRectReadOnly;
};

type Shift = PerformanceEntry & { sources: Move[] };
