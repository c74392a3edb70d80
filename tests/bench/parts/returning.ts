import { chromium, type Browser, type CDPSession, type Page } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { median, type Part } from '../report.ts';
import { startSignedIn, type SignedIn } from '../rig/site.ts';

/** 1.6 Mbit/s and 150 ms, and a quarter of the processor. */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const slowdown = 4;
const phone = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true };
/** In ms. */
const target = 1200;

type Visit = { content: number; bytes: number; shift: number };
type Place = { name: string; path: string; content: string };

const places: Place[] = [
  { name: 'account', path: '/account', content: 'Trial ends on' },
  { name: 'chat', path: '/chat', content: 'number 4.' },
];

/** Pages of somebody who is signed in, in Chromium, really throttled: until their own content is there. */
export async function measureReturning(quick: boolean): Promise<Part> {
  const product = await startSignedIn();
  const browser = await chromium.launch({ executablePath: ensureBrowser(), args: browserArguments });
  const rows: Part['rows'] = [];
  const targets: Part['targets'] = [];
  try {
    for (const place of places) {
      const visits: { first: Visit; again: Visit }[] = [];
      for (let round = 0; round < (quick ? 2 : 7); round += 1) visits.push(await visitTwice(browser, product, place));
      for (const [cache, of] of [
        ['empty', 'first'],
        ['filled', 'again'],
      ] as const) {
        const middle = (key: keyof Visit) => median(visits.map((visit) => visit[of][key]));
        const times = visits.map((visit) => visit[of].content);
        const range = `${Math.round(Math.min(...times))}–${Math.round(Math.max(...times))}`;
        rows.push([place.name, cache, middle('content'), range, middle('bytes'), middle('shift')]);
        targets.push({ what: `${place.name}, ${cache} cache`, value: middle('content'), atMost: target, unit: ' ms' });
      }
    }
  } finally {
    await browser.close();
    await product.stop();
  }
  return {
    title: 'Pages of a returning user, 1.6 Mbit/s, 150 ms and a processor slowed down four times',
    header: ['page', 'cache', 'content after ms', 'range', 'transferred KB', 'layout shift'],
    rows,
    targets,
  };
}

/** Two visits of one browser: the first finds an empty cache. */
async function visitTwice(browser: Browser, { url, token }: SignedIn, place: Place) {
  const context = await browser.newContext(phone);
  await context.addInitScript((stored) => localStorage.setItem('authToken', stored), token);
  await context.addInitScript(watchShift);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const first = await visit(page, devtools, `${url}${place.path}`, place.content);
  const again = await visit(page, devtools, `${url}${place.path}`, place.content);
  await context.close();
  return { first, again };
}

async function visit(page: Page, devtools: CDPSession, url: string, content: string): Promise<Visit> {
  await page.goto('about:blank');
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', network);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.goto(url, { waitUntil: 'commit' });
  const shown = await page.waitForFunction(
    (text) => (document.querySelector('main')?.textContent.includes(text) ? performance.now() : 0),
    content,
    { polling: 'raf', timeout: 30_000 },
  );
  const after = await shown.jsonValue();
  await page.waitForTimeout(1500);
  return { content: after, ...(await page.evaluate(readVisit)) };
}

/** Runs in the page, before anything else. */
function watchShift(): void {
  const seen = { shift: 0 };
  Object.assign(window, { visitShift: seen });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
}

function readVisit(): { bytes: number; shift: number } {
  const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const bytes =
    (entries as PerformanceResourceTiming[]).reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024;
  return { bytes, shift: (window as unknown as { visitShift: { shift: number } }).visitShift.shift };
}
