import { join } from 'node:path';
import { chromium, type Browser } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { observe, read, type Load } from '../load/page-facts.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { ports, root } from '../rig/paths-and-ports.ts';
import { startSite } from '../rig/site.ts';

/** Slow 4G and a phone's processor as Lighthouse throttles them in the browser itself. */
const network = { offline: false, latency: 562.5, downloadThroughput: 188_744, uploadThroughput: 86_400 };
const slowdown = 4;
const phone = {
  viewport: { width: 412, height: 823 },
  deviceScaleFactor: 1.75,
  isMobile: true,
  hasTouch: true,
};
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
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', network);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.addInitScript(observe);
  await page.goto(url, { waitUntil: 'load', timeout: 60_000 });
  await page.waitForTimeout(2000);
  const result = await page.evaluate(read);
  await context.close();
  return result;
}
