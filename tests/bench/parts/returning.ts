import { chromium, type Browser } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { median, type Part } from '../report.ts';
import { startSignedIn, type SignedIn } from '../rig/site.ts';
import { openPhone, read, throttle } from './landing.ts';

/** 1.6 Mbit/s and 150 ms. */
const network = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
/** In ms. */
const target = 1200;

type Phone = Awaited<ReturnType<typeof openPhone>>;
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
async function visitTwice(browser: Browser, { url, token }: SignedIn, { path, content }: Place) {
  const phone = await openPhone(browser);
  const { page } = phone;
  await page.addInitScript((stored) => localStorage.setItem('authToken', stored), token);
  const first = await visit(phone, url + path, content);
  const again = await visit(phone, url + path, content);
  await page.context().close();
  return { first, again };
}

async function visit({ page, devtools }: Phone, url: string, content: string): Promise<Visit> {
  await page.goto('about:blank');
  await throttle(devtools, network);
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
