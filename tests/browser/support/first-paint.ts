import { expect, type Page } from 'playwright/test';
import { settle } from './page.ts';

type Watched = Window & { served: Element | null; texts: string[]; sawField: boolean };

/** Records, from the first byte on, the served heading, the texts of each frame, and whether a message field was there. */
export async function watchFirstPaint(page: Page) {
  await page.addInitScript(() => {
    const watched = window as unknown as Watched;
    watched.served = null;
    watched.texts = [];
    watched.sawField = false;
    const note = () => {
      watched.served ??= document.querySelector('h1');
      watched.sawField ||= document.querySelector('main textarea') !== null;
    };
    const look = () => {
      note();
      const text = document.body?.innerText ?? '';
      if (watched.texts.at(-1) !== text) watched.texts.push(text);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    new MutationObserver(note).observe(document, { childList: true, subtree: true });
  });
  const seen = async () => (await page.evaluate(() => (window as unknown as Watched).texts)).join('\n');
  return {
    seen,
    /** Whether the served heading element is still on the page. */
    servedHeading: () => page.evaluate(() => (window as unknown as Watched).served === document.querySelector('h1')),
    sawField: () => page.evaluate(() => (window as unknown as Watched).sawField),
    spinners: async () => (await seen()).match(/^Loading.*$/gm) ?? [],
  };
}

/** Holds the files of the app whose names end so (`*` stands for any text), as on a slow line with an empty cache, until the returned function is called. */
export async function holdAssets(page: Page, ending = '.js'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(`**/assets/**/*${ending}`, async (route) => promise.then(() => route.fallback()));
  return resolve;
}

/** Waits until all scripts that the page names have loaded and run, those aside whose addresses contain `held`. */
export async function scriptsHaveRun(page: Page, held?: string): Promise<void> {
  const missing = () =>
    page.evaluate((without) => {
      const loaded = new Set(performance.getEntriesByType('resource').map(({ name }) => name));
      const named = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload], link#app');
      return named.length === 0
        ? ['no script']
        : [...named]
            .map(({ href }) => href)
            .filter((href) => !loaded.has(href) && !(without && href.includes(without)));
    }, held);
  await expect.poll(missing, 'the scripts that have not loaded').toEqual([]);
  await settle(page);
}

/** The cumulative layout shift since the page was opened, by Chromium; it has reported every shift before a last one. */
export async function layoutShift(page: Page): Promise<number> {
  await page.evaluate(() => {
    const watched = window as unknown as { shifts: number; marked: boolean; marker: HTMLElement };
    const marker = document.body.appendChild(document.createElement('div'));
    marker.textContent = 'marker';
    Object.assign(marker.style, { position: 'fixed', top: '0', left: '0', zIndex: '9999' });
    Object.assign(watched, { shifts: 0, marked: false, marker });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & Shift)[]) {
        const isMarker = ({ node }: { node: Node | null }) => node === marker || node?.parentNode === marker;
        watched.marked ||= entry.sources.some(isMarker);
        if (!entry.sources.every(isMarker)) watched.shifts += entry.value;
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  // The marker moves until a frame has shown it at two places.
  const move = () =>
    page.evaluate(() => {
      const { marked, marker } = window as unknown as { marked: boolean; marker: HTMLElement };
      marker.style.top = marker.style.top === '200px' ? '0' : '200px';
      return marked;
    });
  await expect.poll(move, 'the shift of the marker').toBe(true);
  return page.evaluate(() => {
    const { shifts, marker } = window as unknown as { shifts: number; marker: HTMLElement };
    marker.remove();
    return shifts;
  });
}

type Shift = { value: number; sources: { node: Node | null }[] };
