import lighthouse from 'lighthouse';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { startSignedIn, startSite } from '../bench/rig/site.ts';
import { freePort } from '../product/machine.ts';
import { pages } from '../../web/app/page-heads.ts';

/** `simulate` estimates the times of a slow phone; `devtools` throttles this browser and measures. */
export type Throttling = 'simulate' | 'devtools';

export type Category = 'performance' | 'accessibility' | 'best-practices' | 'seo';

/** Scores of 0 to 100; paints and blocking in ms; the layout shift has no unit. */
export type Audit = {
  scores: Record<Category, number>;
  firstPaint: number;
  largestPaint: number;
  blocked: number;
  shift: number;
  /** The audits that reduced a score. */
  failed: string[];
};

/** One page load of a phone with an empty cache, in the browser on `port`; repeated if it was not recorded. */
export async function audit(
  url: string,
  port: number,
  throttling: Throttling,
  only: Category[],
  tries = 3,
): Promise<Audit> {
  const result = await lighthouse(url, {
    port,
    throttlingMethod: throttling,
    onlyCategories: only,
    logLevel: 'error',
    output: 'json',
  });
  if (!result) throw new Error(`Lighthouse gave no result for ${url}.`);
  const { audits, categories, runtimeError } = result.lhr;
  if (runtimeError && tries > 1) return audit(url, port, throttling, only, tries - 1);
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`);
  const value = (id: string) => audits[id]?.numericValue ?? NaN;
  const scores = Object.fromEntries(only.map((name) => [name, Math.round((categories[name]?.score ?? 0) * 100)]));
  const weighed = Object.values(categories).flatMap(({ auditRefs }) => auditRefs.filter(({ weight }) => weight > 0));
  return {
    scores: scores as Audit['scores'],
    firstPaint: value('first-contentful-paint'),
    largestPaint: value('largest-contentful-paint'),
    blocked: value('total-blocking-time'),
    shift: value('cumulative-layout-shift'),
    failed: weighed.map(({ id }) => id).filter((id) => (audits[id]?.score ?? 1) < 0.9),
  };
}

const root = join(import.meta.dirname, '../..');
// The one call that a public page makes by itself.
const api = { 'api/country': JSON.stringify({ success: true, country: null }) };

/** The pages of somebody who is signed in. */
export const isPrivate = (path: string): boolean => pages[path]?.isPublic === false;
/** Public pages, and private ones with a prerendered frame. The others are there for a moment only. */
export const audited = Object.keys(pages).filter((path) => !isPrivate(path) || pages[path]?.prerendering === 'shell');

type Sites = { urlOf: (path: string) => string; stop: () => Promise<void> };

/**
 * The built website: for guests, and with the whole product behind it for a signed-in user, whose token the browser on
 * `browserPort` keeps. Each has its own origin, so that guests stay guests.
 */
export async function startSites(paths: string[], browserPort: number): Promise<Sites> {
  const guests = await startSite(join(root, 'dist/web'), await freePort(0, 'PORT'), api);
  const member = paths.some(isPrivate) ? await startSignedIn() : null;
  if (member) await storeToken(browserPort, member.url, member.token);
  return {
    urlOf: (path) => `${isPrivate(path) && member ? member.url : guests.url}${path}`,
    async stop() {
      await member?.stop();
      await guests.stop();
    },
  };
}

/** Lighthouse clears the cache before each visit, but not local storage. */
async function storeToken(port: number, url: string, token: string): Promise<void> {
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  const page = await browser.contexts()[0]!.newPage();
  await page.goto(`${url}/robots.txt`);
  await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
  await page.close();
  await browser.close();
}
