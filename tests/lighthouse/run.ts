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

const all = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
type Category = (typeof all)[number];

/** Scores of 0 to 100; paints and blocking in ms; the layout shift has no unit. */
const figures = {
  firstPaint: 'first-contentful-paint',
  largestPaint: 'largest-contentful-paint',
  blocked: 'total-blocking-time',
  shift: 'cumulative-layout-shift',
} as const;
type Audit = Record<Category | keyof typeof figures, number>;

/** One page load of a phone with an empty cache, and the audits that reduced a score; repeated if it was not recorded. */
async function audit(url: string, throttlingMethod: Throttling, onlyCategories: Category[], tries = 3) {
  const options = { port: browser.port, throttlingMethod, onlyCategories, logLevel: 'error', output: 'json' } as const;
  const result = await lighthouse(url, options);
  if (!result) throw new Error(`Lighthouse gave no result for ${url}.`);
  const { audits, categories, runtimeError } = result.lhr;
  if (runtimeError && tries > 1) return audit(url, throttlingMethod, onlyCategories, tries - 1);
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`);
  const scores = all.map((name) => [name, Math.round((categories[name]?.score ?? NaN) * 100)]);
  const values = Object.entries(figures).map(([name, id]) => [name, audits[id]?.numericValue ?? NaN]);
  const weighed = Object.values(categories).flatMap(({ auditRefs }) => auditRefs.filter(({ weight }) => weight > 0));
  const failed = weighed.map(({ id }) => id).filter((id) => (audits[id]?.score ?? 1) < 0.9);
  return { seen: Object.fromEntries([...scores, ...values]) as Audit, failed };
}

const root = join(import.meta.dirname, '../..');
// The one call that a public page makes by itself.
const api = { 'api/country': JSON.stringify({ success: true, country: null }) };

/** The pages of somebody who is signed in. */
const isPrivate = (path: string): boolean => pages[path]?.isPublic === false;
/** Public pages, and private ones with a prerendered frame. The others are there for a moment only. */
const audited = Object.keys(pages).filter((path) => !isPrivate(path) || pages[path]?.prerendering === 'shell');

/**
 * The built website: for guests, and with the whole product behind it for a signed-in user, whose token the browser
 * keeps. Each has its own origin, so that guests stay guests.
 */
async function startSites(paths: string[]) {
  const guests = await startSite(join(root, 'dist/web'), await freePort(0, 'PORT'), api);
  const member = paths.some(isPrivate) ? await startSignedIn() : null;
  if (member) await storeToken(member.url, member.token);
  return {
    urlOf: (path: string) => `${isPrivate(path) && member ? member.url : guests.url}${path}`,
    async stop() {
      await member?.stop();
      await guests.stop();
    },
  };
}

/** Lighthouse clears the cache before each visit, but not local storage. */
async function storeToken(url: string, token: string): Promise<void> {
  const connected = await chromium.connectOverCDP(`http://127.0.0.1:${browser.port}`);
  const page = await connected.contexts()[0]!.newPage();
  await page.goto(`${url}/robots.txt`);
  await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
  await page.close();
  await connected.close();
}

/** The number of page loads for each median. */
const visits = 3;

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

const sites = await startSites(values.page);
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
    const simulated = await look(path, 'simulate', [...all]);
    const slowed = await look(path, 'devtools', ['performance']);
    part.rows.push(row(path, 'simulated', simulated), row(path, 'real', slowed));
    part.targets.push(...targetsOf(path, simulated, slowed));
  }
  process.stdout.write(`${partText(part)}\n`);
  isMissed = part.targets.some(({ value, atMost }) => !(value <= atMost));
} finally {
  await sites.stop();
}
process.exit(isMissed ? 1 : 0);

function targetsOf(path: string, simulated: Audit, slowed: Audit): Target[] {
  const shift = { what: `${path} layout shift`, value: slowed.shift, atMost: 0, unit: '' };
  // They wait for their data, for which part `j` of the benchmarks has targets, and search engines skip them.
  if (isPrivate(path))
    return [points(path, simulated, 'accessibility'), points(path, simulated, 'best-practices'), shift];
  return [
    ...all.map((name) => points(path, simulated, name)),
    { what: `${path} largest paint`, value: slowed.largestPaint, atMost: path === '/' ? 900 : 1200, unit: ' ms' },
    { what: `${path} blocked`, value: slowed.blocked, atMost: 100, unit: ' ms' },
    shift,
  ];
}

/** The full score, which every category must reach. */
function points(path: string, seen: Audit, category: Category): Target {
  return { what: `${path} ${category}, points missing`, value: 100 - seen[category], atMost: 0, unit: '' };
}

/** The median of several page loads; prints every audit that failed in one of them. */
async function look(path: string, throttling: Throttling, only: Category[]): Promise<Audit> {
  const loads: Awaited<ReturnType<typeof audit>>[] = [];
  for (let visit = 0; visit < visits; visit++) loads.push(await audit(sites.urlOf(path), throttling, only));
  const failed = [...new Set(loads.flatMap((each) => each.failed))];
  if (failed.length > 0) process.stdout.write(`${path}, ${throttling}: ${failed.join(', ')}\n`);
  const names = Object.keys(loads[0]!.seen) as (keyof Audit)[];
  return Object.fromEntries(names.map((name) => [name, median(loads.map(({ seen }) => seen[name]))])) as Audit;
}

function row(path: string, throttling: string, seen: Audit): (string | number)[] {
  const scores = all.map((name) => (Number.isFinite(seen[name]) ? String(seen[name]) : ''));
  return [path, throttling, ...scores, seen.firstPaint, seen.largestPaint, seen.blocked, seen.shift];
}
