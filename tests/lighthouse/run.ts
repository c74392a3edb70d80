import lighthouse from 'lighthouse';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { startSignedIn, startSite } from '../bench/rig/site.ts';
import { freePort, stopSignal } from '../product/machine.ts';
import { pages } from '../../web/app/page-heads.ts';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { launch } from 'chrome-launcher';
import { browserArguments, ensureBrowser } from '../browser/browser.ts';
import { partText, type Part, type Target, median } from '../bench/report.ts';

/** `simulate` estimates the times of a slow phone; `devtools` throttles this browser and measures. */
type Throttling = 'simulate' | 'devtools';

type Category = 'performance' | 'accessibility' | 'best-practices' | 'seo';

/** Scores of 0 to 100; paints and blocking in ms; the layout shift has no unit. */
type Audit = {
  scores: Record<Category, number>;
  firstPaint: number;
  largestPaint: number;
  blocked: number;
  shift: number;
  /** The audits that reduced a score. */
  failed: string[];
};

/** One page load of a phone with an empty cache, in the browser on `port`; repeated if it was not recorded. */
async function audit(url: string, port: number, throttling: Throttling, only: Category[], tries = 3): Promise<Audit> {
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
const isPrivate = (path: string): boolean => pages[path]?.isPublic === false;
/** Public pages, and private ones with a prerendered frame. The others are there for a moment only. */
const audited = Object.keys(pages).filter((path) => !isPrivate(path) || pages[path]?.prerendering === 'shell');

type Sites = { urlOf: (path: string) => string; stop: () => Promise<void> };

/**
 * The built website: for guests, and with the whole product behind it for a signed-in user, whose token the browser on
 * `browserPort` keeps. Each has its own origin, so that guests stay guests.
 */
async function startSites(paths: string[], browserPort: number): Promise<Sites> {
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

const all: Category[] = ['performance', 'accessibility', 'best-practices', 'seo'];
/** The number of page loads for each median. */
const visits = 3;
const slowestPaint = (path: string) => (path === '/' ? 900 : 1200);

const { values } = parseArgs({
  options: {
    /** Uses the website in dist/web without building it. */
    built: { type: 'boolean', default: false },
    page: { type: 'string', multiple: true, default: audited },
  },
});

if (!values.built)
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
const browser = await launch({
  chromePath: ensureBrowser(),
  chromeFlags: ['--headless=new', ...browserArguments],
  logLevel: 'silent',
  handleSIGINT: false,
});
// Ends Chromium however this process ends.
process.on('exit', () => browser.kill());
stopSignal('lighthouse').addEventListener('abort', () => process.exit(130));

const sites = await startSites(values.page, browser.port);
let isMissed = false;
try {
  const part: Part = {
    title: `Lighthouse, a phone, median of ${visits} visits`,
    header: ['page', 'throttling', ...all, 'first paint ms', 'largest paint ms', 'blocked ms', 'layout shift'],
    rows: [],
    targets: [],
  };
  for (const path of values.page) {
    process.stderr.write(`Auditing ${path} …\n`);
    const simulated = await look(path, 'simulate', all);
    const slowed = await look(path, 'devtools', ['performance']);
    part.rows.push(row(path, 'simulated', simulated), row(path, 'real', slowed));
    part.targets.push(...(isPrivate(path) ? privateTargets : publicTargets)(path, simulated, slowed));
  }
  process.stdout.write(`${partText(part)}\n`);
  isMissed = part.targets.some(({ value, atMost }) => !(value <= atMost));
} finally {
  await sites.stop();
}
process.exit(isMissed ? 1 : 0);

function publicTargets(path: string, simulated: Audit, slowed: Audit): Target[] {
  return [
    ...all.map((name) => points(`${path} ${name}`, simulated.scores[name])),
    { what: `${path} largest paint`, value: slowed.largestPaint, atMost: slowestPaint(path), unit: ' ms' },
    { what: `${path} blocked`, value: slowed.blocked, atMost: 100, unit: ' ms' },
    { what: `${path} layout shift`, value: slowed.shift, atMost: 0, unit: '' },
  ];
}

/** Private pages wait for their data, for which part `j` of the benchmarks has targets, and search engines skip them. */
function privateTargets(path: string, simulated: Audit, slowed: Audit): Target[] {
  return [
    points(`${path} accessibility`, simulated.scores.accessibility),
    points(`${path} best-practices`, simulated.scores['best-practices']),
    { what: `${path} layout shift`, value: slowed.shift, atMost: 0, unit: '' },
  ];
}

/** The median of several page loads, with every audit that failed in one of them. */
async function look(path: string, throttling: Throttling, only: Category[]): Promise<Audit> {
  const seen: Audit[] = [];
  for (let visit = 0; visit < visits; visit++)
    seen.push(await audit(sites.urlOf(path), browser.port, throttling, only));
  const failed = [...new Set(seen.flatMap((each) => each.failed))];
  if (failed.length > 0) process.stdout.write(`${path}, ${throttling}: ${failed.join(', ')}\n`);
  const middle = (of: (audit: Audit) => number) => median(seen.map(of));
  return {
    scores: Object.fromEntries(all.map((name) => [name, middle(({ scores }) => scores[name])])) as Audit['scores'],
    firstPaint: middle((each) => each.firstPaint),
    largestPaint: middle((each) => each.largestPaint),
    blocked: middle((each) => each.blocked),
    shift: middle((each) => each.shift),
    failed,
  };
}

function row(path: string, throttling: string, { scores, ...seen }: Audit): (string | number)[] {
  const points = all.map((name) => (Number.isFinite(scores[name]) ? String(scores[name]) : ''));
  return [path, throttling, ...points, seen.firstPaint, seen.largestPaint, seen.blocked, seen.shift];
}

/** The full score, which every category must reach. */
function points(what: string, value: number): Target {
  return { what: `${what}, points missing`, value: 100 - value, atMost: 0, unit: '' };
}
