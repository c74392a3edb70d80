import { join } from 'node:path';
import { chromium, type Browser, type CDPSession } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { inRounds, compare, median, ratioText, type Part } from '../report.ts';
import { ports, root } from '../rig/settings.ts';
import { startSite } from '../rig/site.ts';

/** Latency in ms, throughput in bytes a second. */
type Network = { latency: number; downloadThroughput: number; uploadThroughput: number };
/** Slow 4G as Lighthouse throttles it in the browser itself. */
const network: Network = { latency: 562.5, downloadThroughput: 188_744, uploadThroughput: 86_400 };
const slowdown = 4;
const phone = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true };
const blank =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Blank</title><p>Nothing but this line.</p></html>';

/** The landing page in Chromium, really throttled, beside a page that holds one line. */
export async function measureLanding(quick: boolean): Promise<Part> {
  const site = await startSite(join(root, 'dist/web'), ports.site, { 'blank.html': blank });
  const browser = await chromium.launch({ executablePath: ensureBrowser(), args: browserArguments });
  try {
    const laps = await inRounds(quick ? 3 : 9, {
      landing: () => load(browser, `${site.url}/`),
      blank: () => load(browser, `${site.url}/blank`),
    });
    return describe(laps.landing, laps.blank);
  } finally {
    await browser.close();
    await site.stop();
  }
}

function describe(landing: Load[], empty: Load[]): Part {
  const values = (loads: Load[], key: keyof Load) => loads.map((load) => load[key]);
  const rows = (
    [
      ['first paint, ms', 'firstPaint'],
      ['largest paint (LCP), ms', 'largestPaint'],
      ['load event, ms', 'loaded'],
      ['blocked by long tasks (TBT), ms', 'blocked'],
      ['layout shift (CLS)', 'shift'],
      ['transferred, KB', 'bytes'],
    ] as const
  ).map(([title, key]) => {
    const [ours, theirs] = [values(landing, key), values(empty, key)];
    const wrap = (list: number[]) => list.map((value) => [value]);
    const ratio = median(theirs) > 0 ? ratioText(compare(wrap(ours), wrap(theirs))) : '';
    return [title, median(ours), median(theirs), ratio];
  });
  const middle = (key: keyof Load) => median(values(landing, key));
  const later = middle('largestPaint') - median(values(empty, 'largestPaint'));
  return {
    title: 'The landing page, slow 4G and a processor slowed down four times',
    header: ['what', 'landing page', 'blank page', 'ratio'],
    rows,
    targets: [
      { what: "largest paint after a blank page's", value: later, atMost: 150, unit: ' ms' },
      { what: 'blocked by long tasks', value: middle('blocked'), atMost: 100, unit: ' ms' },
      { what: 'layout shift', value: middle('shift'), atMost: 0, unit: '' },
    ],
  };
}

/** One page load with an empty cache. */
async function load(browser: Browser, url: string): Promise<Load> {
  const { page, devtools } = await openPhone(browser);
  await throttle(devtools, network);
  await page.goto(url, { waitUntil: 'load', timeout: 60_000 });
  await page.waitForTimeout(2000);
  const result = await page.evaluate(read);
  await page.context().close();
  return result;
}

/** A page of a phone with an empty cache, observed from its beginning. */
export async function openPhone(browser: Browser) {
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  await page.addInitScript(observe);
  return { page, devtools: await context.newCDPSession(page) };
}

/** Slows down the network, and the processor to a quarter, until the page is one of another process. */
export async function throttle(devtools: CDPSession, slow: Network): Promise<void> {
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { offline: false, ...slow });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
}

/** The figures of one page load: ms, the layout shift, and transferred KB. */
type Load = {
  firstPaint: number;
  largestPaint: number;
  shift: number;
  blocked: number;
  loaded: number;
  bytes: number;
};

type Seen = { largestPaint: number; shift: number; tasks: { startTime: number; duration: number }[] };
declare global {
  interface Window {
    seen: Seen;
  }
}

/** Runs in the page, before anything else. */
function observe(): void {
  const seen: Seen = { largestPaint: 0, shift: 0, tasks: [] };
  window.seen = seen;
  const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('largest-contentful-paint', ({ startTime }) => (seen.largestPaint = startTime));
  watch('layout-shift', (entry) => (seen.shift += (entry as unknown as { value: number }).value));
  watch('longtask', ({ startTime, duration }) => seen.tasks.push({ startTime, duration }));
}

/** Runs in the page after loading has ended. */
export function read(): Load {
  const { largestPaint, shift, tasks } = window.seen;
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const firstPaint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN;
  const fetched = [page!, ...(performance.getEntriesByType('resource') as PerformanceResourceTiming[])];
  const late = tasks.filter((task) => task.startTime + task.duration > firstPaint);
  return {
    firstPaint,
    largestPaint,
    shift,
    blocked: late.reduce((sum, task) => sum + Math.max(0, task.duration - 50), 0),
    loaded: page!.loadEventEnd,
    bytes: fetched.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024,
  };
}
