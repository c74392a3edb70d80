import lighthouse, { type Result } from 'lighthouse';
import { computeMedianRun } from 'lighthouse/core/lib/median-run.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { type SignedIn, startSignedIn } from '../bench/rig/site.ts';
import { stopSignal } from '../product/machine.ts';
import { pages } from '../../web/app/page-heads.ts';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { launch } from 'chrome-launcher';
import { browserArguments, ensureBrowser } from '../browser/browser.ts';
import { partText, type Part, type Target } from '../bench/measurement.ts';

const scores = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
type Seen = Record<(typeof scores)[number] | 'layout shift', number>;

const root = join(import.meta.dirname, '../..');

const isPrivate = (path: string): boolean => pages[path]?.isPublic === false;
/** `/cancel` is public, and leads guests to the login. */
const isForMembers = (path: string): boolean => isPrivate(path) || path === '/cancel';
/** Public pages, and private ones with a served frame. The others are there for a moment only. */
const audited = Object.keys(pages).filter(
  (path) => !isPrivate(path) || pages[path]?.served === 'shell',
);

/** Lighthouse clears the cache before each visit, but not local storage. */
async function storeToken({ url, token }: SignedIn): Promise<void> {
  const connected = await chromium.connectOverCDP(`http://127.0.0.1:${browser.port}`);
  const page = await connected.contexts()[0]!.newPage();
  await page.goto(`${url}/robots.txt`);
  await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
  await page.close();
  await connected.close();
}

const visits = 3;

const { values } = parseArgs({
  options: {
    /** Uses the website in dist/web without building it. */
    built: { type: 'boolean', default: false },
    page: { type: 'string', multiple: true, default: audited },
  },
});

if (!values.built)
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
/** Chromium leaves files there when it is killed. */
const temporaryFolder = mkdtempSync(join(tmpdir(), 'solace-lighthouse-'));
const browser = await launch({
  chromePath: ensureBrowser(),
  chromeFlags: ['--headless=new', ...browserArguments],
  envVars: { ...process.env, TMPDIR: temporaryFolder },
  logLevel: 'silent',
  handleSIGINT: false,
});
// Ends Chromium however this process ends.
process.on('exit', () => {
  browser.kill();
  rmSync(temporaryFolder, { recursive: true, force: true, maxRetries: 3 });
});
stopSignal('lighthouse').addEventListener('abort', () => process.exit(130));

const site = await startSignedIn();
/** Guests use the same site by another name: the token is stored for one origin alone. */
const guestUrl = site.url.replace('127.0.0.1', 'localhost');
let isMissed = false;
try {
  await storeToken(site);
  const title = `Lighthouse, a phone, the middle of ${visits} visits`;
  const part: Part = {
    title,
    header: ['page', ...scores, 'layout shift'],
    rows: [],
    targets: [],
  };
  for (const path of values.page) {
    process.stderr.write(`Auditing ${path} …\n`);
    const seen = await look(path);
    part.rows.push([path, ...scores.map((name) => seen[name]), seen['layout shift']]);
    part.targets.push(...targetsOf(path, seen));
  }
  process.stdout.write(`${partText(part)}\n`);
  isMissed = part.targets.some(({ value, atMost }) => !(value <= atMost));
} finally {
  await site.stop();
}
process.exit(isMissed ? 1 : 0);

/** Each category must reach its full score. The benchmarks measure paints in a browser that is really throttled. */
function targetsOf(path: string, seen: Seen): Target[] {
  // Members' pages wait for their data, and search engines skip them.
  const expected = isForMembers(path) ? (['accessibility', 'best-practices'] as const) : scores;
  return [
    ...expected.map((name) => ({
      what: `${path} ${name}, points missing`,
      value: 100 - seen[name],
      atMost: 0,
    })),
    {
      what: `${path} layout shift`,
      value: seen['layout shift'],
      atMost: 0,
    },
  ];
}

/** The middle one of several page loads; prints the audits that reduced a score. */
async function look(path: string): Promise<Seen> {
  const runs: Result[] = [];
  while (runs.length < visits)
    runs.push(await load(`${isForMembers(path) ? site.url : guestUrl}${path}`));
  const { audits, categories }: Result = computeMedianRun(runs);
  const weighed = Object.values(categories).flatMap(({ auditRefs }) =>
    auditRefs.filter(({ weight }) => weight > 0),
  );
  const failed = weighed.map(({ id }) => id).filter((id) => (audits[id]?.score ?? 1) < 0.9);
  if (failed.length > 0) process.stdout.write(`${path}: ${failed.join(', ')}\n`);
  return Object.fromEntries([
    ...scores.map((name) => [name, Math.round((categories[name]?.score ?? NaN) * 100)]),
    ['layout shift', audits['cumulative-layout-shift']?.numericValue ?? NaN],
  ]) as Seen;
}

/** One page load with an empty cache; repeated if Lighthouse could not record it. */
async function load(url: string, tries = 3): Promise<Result> {
  const { lhr } = (await lighthouse(url, {
    port: browser.port,
    logLevel: 'error',
  }))!;
  if (!lhr.runtimeError) return lhr;
  if (tries === 1) throw new Error(`${url}: ${lhr.runtimeError.message}`);
  return load(url, tries - 1);
}
