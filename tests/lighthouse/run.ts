import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from 'chrome-launcher';
import { browserArguments, ensureBrowser } from '../browser/browser.ts';
import { partText, type Part, type Target, median } from '../bench/report.ts';
import { onOrphaned } from '../product/machine.ts';
import { audit, type Audit, type Category, type Throttling, audited, isPrivate, startSites } from './audit.ts';

const root = join(import.meta.dirname, '../..');
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
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
if (process.env.npm_lifecycle_event === 'lighthouse') onOrphaned(() => process.exit(130));

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
