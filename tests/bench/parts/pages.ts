import type { Browser, CDPSession } from 'playwright';
import { inRounds, median, type Part } from '../measurement.ts';
import type { Rig } from '../rig/rig.ts';
import { startSignedIn, type SignedIn, startSite } from '../rig/site.ts';

/** Latency in ms, throughput in bytes a second. */
type Network = {
  latency: number;
  downloadThroughput: number;
  uploadThroughput: number;
};
/** Slow 4G as Lighthouse throttles it in the browser itself. */
const network: Network = {
  latency: 562.5,
  downloadThroughput: 188_744,
  uploadThroughput: 86_400,
};
const phone = {
  viewport: { width: 412, height: 823 },
  deviceScaleFactor: 1.75,
  isMobile: true,
  hasTouch: true,
};
const blank =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Blank</title><p>Nothing but this line.</p></html>';

export async function measureLanding(rig: Rig, quick: boolean): Promise<Part> {
  const { url } = rig.keep(await startSite({ 'blank.html': blank }));
  const browser = await rig.browser();
  const ways = {
    landing: () => load(browser, `${url}/`),
    blank: () => load(browser, `${url}/blank`),
  };
  const laps = await inRounds({ rounds: quick ? 3 : 9 }, ways);
  const middle = (loads: Load[], key: keyof Load) => median(loads.map((load) => load[key]));
  const [ours, theirs] = [middle(laps.landing, 'largestPaint'), middle(laps.blank, 'largestPaint')];
  return {
    title: 'The landing page, slow 4G and a processor slowed down four times',
    header: ['largest paint ms', 'of a blank page ms'],
    rows: [[ours, theirs]],
    targets: [
      {
        what: "largest paint after a blank page's",
        value: ours - theirs,
        atMost: 150,
        unit: ' ms',
      },
      {
        what: 'blocked by long tasks',
        value: middle(laps.landing, 'blocked'),
        atMost: 100,
        unit: ' ms',
      },
      {
        what: 'layout shift',
        value: middle(laps.landing, 'shift'),
        atMost: 0,
      },
    ],
  };
}

async function load(browser: Browser, url: string): Promise<Load> {
  const { page, devtools } = await openPhone(browser);
  await throttle(devtools, network);
  await page.goto(url, { waitUntil: 'load', timeout: 60_000 });
  await page.waitForTimeout(2000);
  const result = await page.evaluate(read);
  await page.context().close();
  return result;
}

async function openPhone(browser: Browser) {
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  return { page, devtools: await context.newCDPSession(page) };
}

/** Slows down the network, and the processor to a quarter, until the page is one of another process. */
async function throttle(devtools: CDPSession, slow: Network): Promise<void> {
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    ...slow,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

/** The figures of one page load: ms, the layout shift, and transferred KB. */
type Load = ReturnType<typeof read>;

/** Runs in the page after loading has ended. */
function read() {
  const entriesOf = (type: string) => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type, buffered: true });
    return observer.takeRecords();
  };
  const shifts = entriesOf('layout-shift') as (PerformanceEntry & { value: number })[];
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const firstPaint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN;
  const fetched = [
    page!,
    ...(performance.getEntriesByType('resource') as PerformanceResourceTiming[]),
  ];
  const late = entriesOf('longtask').filter((task) => task.startTime + task.duration > firstPaint);
  return {
    largestPaint: entriesOf('largest-contentful-paint').at(-1)?.startTime ?? NaN,
    shift: shifts.reduce((sum, { value }) => sum + value, 0),
    blocked: late.reduce((sum, task) => sum + Math.max(0, task.duration - 50), 0),
    bytes: fetched.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024,
  };
}

/** 1.6 Mbit/s and 150 ms. */
const mobile: Network = {
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 93_750,
};
const contents = {
  account: { text: 'Trial ends on', atMost: 2000 },
  chat: { text: 'number 4.', atMost: 900 },
};

/** Pages of somebody who is signed in, in Chromium, really throttled: until their own content is there. */
export async function measureReturning(rig: Rig, quick: boolean): Promise<Part> {
  const product = rig.keep(await startSignedIn());
  const browser = await rig.browser();
  const title =
    'Pages of a returning user, 1.6 Mbit/s, 150 ms and a processor slowed down four times';
  const header = ['page', 'cache', 'content after ms', 'range', 'transferred KB', 'layout shift'];
  const part: Part = { title, header, rows: [], targets: [] };
  for (const [name, { text, atMost }] of Object.entries(contents)) {
    const visits: Visit[][] = [];
    while (visits.length < (quick ? 2 : 7))
      visits.push(await visitTwice(browser, product, name, text));
    for (const [index, cache] of ['empty', 'filled'].entries()) {
      const values = (key: keyof Visit) => visits.map((each) => each[index]![key]);
      const times = values('content');
      const range = `${Math.round(Math.min(...times))}–${Math.round(Math.max(...times))}`;
      part.rows.push([
        name,
        cache,
        median(times),
        range,
        median(values('bytes')),
        median(values('shift')),
      ]);
      part.targets.push({
        what: `${name}, ${cache} cache`,
        value: median(times),
        atMost,
        unit: ' ms',
      });
    }
  }
  return part;
}

type Visit = Awaited<ReturnType<typeof visit>>;

async function visitTwice(
  browser: Browser,
  { url, token }: SignedIn,
  name: string,
  content: string,
): Promise<Visit[]> {
  const phone = await openPhone(browser);
  await phone.page.addInitScript((stored) => localStorage.setItem('authToken', stored), token);
  const visits = [
    await visit(phone, `${url}/${name}`, content),
    await visit(phone, `${url}/${name}`, content),
  ];
  await phone.page.context().close();
  return visits;
}

async function visit(
  { page, devtools }: Awaited<ReturnType<typeof openPhone>>,
  url: string,
  content: string,
) {
  await page.goto('about:blank');
  await throttle(devtools, mobile);
  await page.goto(url, { waitUntil: 'commit' });
  const shown = await page.waitForFunction(
    (text) => (document.querySelector('main')?.textContent.includes(text) ? performance.now() : 0),
    content,
    { polling: 'raf', timeout: 30_000 },
  );
  const after = await shown.jsonValue();
  await page.waitForTimeout(1500);
  const { bytes, shift } = await page.evaluate(read);
  return { content: after, bytes, shift };
}
