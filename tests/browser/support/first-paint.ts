import type { Page } from 'playwright/test';

type Watched = Window & { shift: number; served: Element | null; texts: string[] };

/** Records, from the first byte on, the served heading and the texts visible in any frame. */
export async function watchFirstPaint(page: Page) {
  await page.addInitScript(() => {
    const watched = window as unknown as Watched;
    watched.served = null;
    watched.texts = [];
    const look = () => {
      watched.served ??= document.querySelector('h1');
      const text = document.body?.innerText ?? '';
      if (watched.texts.at(-1) !== text) watched.texts.push(text);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    new MutationObserver(() => (watched.served ??= document.querySelector('h1'))).observe(document, {
      childList: true,
      subtree: true,
    });
  });
  const seen = async () => (await page.evaluate(() => (window as unknown as Watched).texts)).join('\n');
  return {
    seen,
    /** Whether the served heading element is still on the page. */
    servedHeading: () => page.evaluate(() => (window as unknown as Watched).served === document.querySelector('h1')),
    spinners: async () => (await seen()).match(/^Loading.*$/gm) ?? [],
  };
}

/** The cumulative layout shift since the page was opened, by Chromium. */
export async function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        const add = (entries: PerformanceEntryList) => {
          for (const entry of entries) sum += (entry as PerformanceEntry & { value: number }).value;
        };
        const observer = new PerformanceObserver((list) => add(list.getEntries()));
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => {
          add(observer.takeRecords());
          resolve(sum);
        }, 300);
      }),
  );
}
