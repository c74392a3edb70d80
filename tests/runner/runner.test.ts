import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runGroups, type Group } from './groups.ts';

let folder: string;
let printed: () => string;
beforeEach(() => {
  // Below the packages, which the runners' configurations import.
  mkdirSync('.wrangler', { recursive: true });
  folder = mkdtempSync(resolve('.wrangler/runner-'));
  const log = vi.spyOn(console, 'log').mockReturnValue();
  printed = () => log.mock.calls.join('\n');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const runStages = (
  stages: Group[][],
  { strict = false, stop = new AbortController().signal } = {},
) => runGroups(stages, { strict, stop, logs: join(folder, 'logs') });
/** One after the other. */
const run = (groups: Group[], settings = {}) =>
  runStages(
    groups.map((group) => [group]),
    settings,
  );
const shell = (name: string, script: string): Group => ({
  name,
  command: `cd ${folder}; ${script}`,
});
const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.05; done`;
const read = (file: string) => readFileSync(join(folder, file), 'utf8').trim();

/** Ends the first try: what fails only then passes afterwards. */
const last = () => shell('last', 'echo last >> ran; touch second');

/** Writes a test file whose tests know which try it is, and can note that they ran. */
function write(runner: string, tests: string, file = 'some.test.ts'): void {
  const start = `
    import { appendFileSync, existsSync } from 'node:fs';
    import { expect, test } from '${runner}';
    const isSecond = existsSync('${folder}/second');
    const ran = (name) => appendFileSync('${folder}/ran', name + ' ');
  `;
  writeFileSync(join(folder, file), start + tests);
}
const flakyAndSteady = `
  test('is flaky', () => {
    ran('flaky');
    expect(isSecond, 'the first try').toBe(true);
  });
  test('is steady', () => ran('steady'));
`;

function vitest(more = ''): Group {
  write('vitest', flakyAndSteady + more);
  const tagged = { tags: [{ name: 'full' }], tagsFilter: ['!full'] };
  const config = { cacheDir: 'cache', test: { isolate: false, maxWorkers: 1, ...tagged } };
  writeFileSync(join(folder, 'vitest.config.ts'), `export default ${JSON.stringify(config)}`);
  const command = `node_modules/.bin/vitest run --root ${folder} --reporter=minimal`;
  return { name: 'vitest', command, again: '--lastFailed' };
}

function playwright(tests = flakyAndSteady): Group {
  write('playwright/test', tests);
  writeFileSync(join(folder, 'playwright.config.ts'), 'export default { outputDir: "results" }');
  const command = `node_modules/.bin/playwright test --config ${folder} --reporter=dot`;
  return { name: 'playwright', command, again: '--last-failed --workers=1' };
}

test('gives a failed test of Vitest a second try, alone, and names it at the end', async () => {
  const group = vitest(`
    const fail = () => expect(isSecond, 'a common error').toBe(true);
    for (const name of ['one', 'two', 'three']) test(name, () => (ran(name), fail()));
  `);
  write('vitest', "test('is loaded', () => ran('loaded'));", 'loaded.test.ts');
  const late = "if (!isSecond) throw new Error('not loaded'); test('is late', () => ran('late'));";
  write('vitest', late, 'late.test.ts');
  expect(await run([group, last()])).toBe(true);

  const [first, second] = read('ran')
    .split('last')
    .map((names) => names.trim().split(' ').toSorted());
  expect(first).toEqual(['flaky', 'loaded', 'one', 'steady', 'three', 'two']);
  expect(second).toEqual(['flaky', 'late', 'one', 'three', 'two']);

  expect(printed()).toMatch(
    /> one\n FAIL .* > two\n FAIL .* > three\nAssertionError: a common error/,
  );
  const named = printed().matchAll(/^\w*Error: ([\w ]+).*\nPassed at the second try: (.*)$/gm);
  expect([...named].map(([, message, title]) => [message, title])).toEqual([
    ['not loaded', 'late.test.ts [ late.test.ts ]'],
    ['the first try', 'some.test.ts > is flaky'],
    ['a common error', 'some.test.ts > one'],
    ['a common error', 'some.test.ts > two'],
    ['a common error', 'some.test.ts > three'],
  ]);
});

test(
  'gives a failed test of Playwright a second try, alone, and names it at the end',
  { tags: ['full'] },
  async () => {
    expect(await run([playwright(), last()])).toBe(true);
    expect(read('ran').split(/\s+/)).toEqual(['flaky', 'steady', 'last', 'flaky']);
    const [message, title] = printed().split('\n').slice(-2);
    expect(message).toContain('the first try');
    expect(title).toMatch(/^Passed at the second try: \S*some\.test\.ts\S* › is flaky$/);
  },
);

test('fails if Vitest can load a file at neither try', async () => {
  const group = vitest();
  write('vitest', "import './missing.ts';", 'broken.test.ts');
  expect(await run([group, last()])).toBe(false);
  expect(read('ran').split(/\s+/)).toEqual(['flaky', 'steady', 'last', 'flaky']);
  expect(printed().match(/^ FAIL .*/gm)).toEqual([
    ' FAIL  broken.test.ts [ broken.test.ts ]',
    ' FAIL  some.test.ts > is flaky',
    ' FAIL  broken.test.ts [ broken.test.ts ]',
  ]);
  expect(printed()).not.toContain('Passed at the second try');
});

test('repeats all tests of Vitest after an error outside of them, and fails if it stays', async () => {
  const group = vitest("test('is careless', () => void Promise.reject(new Error('unhandled')));");
  expect(await run([group, last()])).toBe(false);
  expect(read('ran').split(/\s+/)).toEqual(['flaky', 'steady', 'last', 'flaky', 'steady']);
});

test(
  'repeats all of Playwright if it cannot load a file, and fails if it never can',
  { tags: ['full'] },
  async () => {
    const group = playwright("ran('load'); throw new Error('broken');");
    write('playwright/test', "test('works', () => ran('works'));", 'other.test.ts');
    expect(await run([group, last()])).toBe(false);
    expect(read('ran').split(/\s+/)).toEqual(['load', 'last', 'load']);
    // Playwright's `--last-failed` would add that it has found no tests.
    expect(printed().match(/^Error: .*/gm)).toEqual(['Error: broken', 'Error: broken']);
  },
);

/** Names a failed test at the first try; the second one is the given script. */
const twice = (second: string): Group => ({
  ...shell(
    'tests',
    `test -e tried && { rm tried; ${second}; }; touch tried; echo 'FAIL  a > b'; echo why; exit 1`,
  ),
  again: '',
});

test('fails if a test fails twice', async () => {
  expect(await run([twice('echo again; exit 1')])).toBe(false);
  expect(printed()).toMatch(/\nagain\n✗ tests, second try /);
  expect(printed()).not.toContain('Passed at the second try');
});

test('fails if the second try does not run as many tests as have failed', async () => {
  expect(await run([twice('echo 3 skipped; exit 0')])).toBe(false);
  expect(await run([twice('echo 1 passed; exit 0')])).toBe(true);
});

test('fails for a second try if it is strict', async () => {
  const flaky = shell('flaky', 'echo once >> ran; test $(wc -l < ran) = 2');
  expect(await run([{ ...flaky, again: '' }], { strict: true })).toBe(false);
  expect(printed()).toContain('Passed at the second try: flaky');
});

test('shows the failures alone that a runner lists at its end', async () => {
  const lines = ['noise', '⎯⎯ Failed Tests 1 ⎯⎯', 'why'].map((line) => `echo '${line}'`);
  expect(await run([shell('tests', `${lines.join(';')}; exit 1`)])).toBe(false);
  expect(printed()).toMatch(/^⎯⎯ Failed Tests 1 ⎯⎯\nwhy\n✗ tests /);
});

test('shows an error outside of the tests of Playwright, and repeats all of them', async () => {
  const lines = [
    'noise',
    'Error: lost',
    '  1) a › b ──',
    'why',
    '1 error was not a part of any test',
  ];
  const report = lines.map((line) => `echo '${line}'`).join(';');
  const tests = shell('tests', `test -e tried && exit; touch tried; ${report}; exit 1`);
  expect(await run([{ ...tests, again: '' }])).toBe(true);
  expect(printed()).toMatch(/^Error: lost\n[^]*\nError: lost\nPassed at the second try: tests$/);
});

test('repeats a whole command that has failed without naming tests', async () => {
  const crash = shell(
    'crash',
    'echo once >> ran; test $(wc -l < ran) = 2 || { echo lost; exit 7; }',
  );
  expect(await run([{ ...crash, again: '--unknown' }])).toBe(true);
  expect(printed()).toMatch(/lost\nPassed at the second try: crash$/);
});

test('runs every group to its end, and shows the whole output of one that fails', async () => {
  const groups = [shell('bad', 'echo why; exit 3'), shell('next', 'touch next; echo noise')];
  expect(await run(groups)).toBe(false);
  expect(read('next')).toBe('');
  expect(printed()).toMatch(/^why\n✗ bad .*\n✓ next /);
  expect(printed()).not.toContain('noise');
});

test('runs the groups of a stage at once', async () => {
  const one = shell('one', `touch 1; ${until('2')}`);
  const two = shell('two', `touch 2; ${until('1')}`);
  expect(await runStages([[one, two]])).toBe(true);
});

test('ends all processes when it is stopped, and begins no more', async () => {
  const stop = new AbortController();
  const long = shell('long', '(sleep 600 & echo $! > pid; touch begun; wait); true');
  const running = run([long, shell('never', 'touch never')], { stop: stop.signal });
  await expect.poll(() => existsSync(join(folder, 'begun')), { timeout: 60_000 }).toBe(true);
  stop.abort();
  expect(await running).toBe(false);
  const isAlive = () => process.kill(Number(read('pid')), 0);
  await expect
    .poll(
      () => {
        try {
          return isAlive();
        } catch {
          return false;
        }
      },
      { timeout: 60_000 },
    )
    .toBe(false);
  expect(existsSync(join(folder, 'never'))).toBe(false);
});
