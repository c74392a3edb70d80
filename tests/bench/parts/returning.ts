import { chromium, type Browser } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { median, type Part } from '../report.ts';
import { startSignedIn, type SignedIn } from '../rig/site.ts';
import { openPhone, read, throttle } from './landing.ts';

/** 1.6 Mbit/s and 150 ms. */
const network = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const mostMs = 1200;

/** Each page and its own content. */
const contents = { account: 'Trial ends on', chat: 'number 4.' };

/** Pages of somebody who is signed in, in Chromium, really throttled: until their own content is there. */
export async function measureReturning(quick: boolean): Promise<Part> {
  const product = await startSignedIn();
  const browser = await chromium.launch({ executablePath: ensureBrowser(), args: browserArguments });
  const part: Part = {
    title: 'Pages of a returning user, 1.6 Mbit/s, 150 ms and a processor slowed down four times',
    header: ['page', 'cache', 'content after ms', 'range', 'transferred KB', 'layout shift'],
    rows: [],
    targets: [],
  };
  try {
    for (const [name, content] of Object.entries(contents)) {
      const visits: Visit[][] = [];
      for (let round = 0; round < (quick ? 2 : 7); round += 1)
        visits.push(await visitTwice(browser, product, name, content));
      for (const [index, cache] of ['empty', 'filled'].entries()) {
        const values = (key: keyof Visit) => visits.map((each) => each[index]![key]);
        const times = values('content');
        const range = `${Math.round(Math.min(...times))}–${Math.round(Math.max(...times))}`;
        part.rows.push([name, cache, median(times), range, median(values('bytes')), median(values('shift'))]);
        part.targets.push({ what: `${name}, ${cache} cache`, value: median(times), atMost: mostMs, unit: ' ms' });
      }
    }
  } finally {
    await browser.close();
    await product.stop();
  }
  return part;
}

type Visit = Awaited<ReturnType<typeof visit>>;

/** Two visits of one browser: the first finds an empty cache. */
async function visitTwice(browser: Browser, { url, token }: SignedIn, name: string, content: string): Promise<Visit[]> {
  const phone = await openPhone(browser);
  await phone.page.addInitScript((stored) => localStorage.setItem('authToken', stored), token);
  const visits = [await visit(phone, `${url}/${name}`, content), await visit(phone, `${url}/${name}`, content)];
  await phone.page.context().close();
  return visits;
}

async function visit({ page, devtools }: Awaited<ReturnType<typeof openPhone>>, url: string, content: string) {
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
