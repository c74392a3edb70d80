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

/** Tests of which one fails at the first try, and one always if asked to. Each notes that it ran. */
const fixture = (runner: string, isBroken: boolean) => `
  import { appendFileSync, existsSync } from 'node:fs';
  import { expect, test } from '${runner}';
  const ran = (name) => appendFileSync('${folder}/ran', name + ' ');
  test('is flaky', () => {
    const isSecond = existsSync('${folder}/ran');
    ran('flaky');
    expect(isSecond, 'the first try').toBe(true);
  });
  test('is steady', () => ran('steady'));
  ${isBroken ? "test('is broken', () => expect(1).toBe(2));" : ''}
`;

function vitest(isBroken = false): Group {
  writeFileSync(join(folder, 'some.test.ts'), fixture('vitest', isBroken));
  writeFileSync(join(folder, 'vitest.config.ts'), 'export default { cacheDir: "cache" }');
  const command = `npx vitest run --root ${folder} --reporter=minimal`;
  return { name: 'vitest', command, again: '--lastFailed' };
}

function playwright(): Group {
  writeFileSync(join(folder, 'some.test.ts'), fixture('playwright/test', false));
  writeFileSync(join(folder, 'playwright.config.ts'), 'export default { outputDir: "results" }');
  const command = `npx playwright test --config ${folder} --reporter=dot`;
  return {
    name: 'playwright',
    command,
    again: '--last-failed --workers=1',
  };
}

const runners = [
  ['Vitest', vitest, []],
  ['Playwright', playwright, ['full']],
] as const;

for (const [name, group, tags] of runners)
  test(
    `gives a failed test of ${name} a second try, alone, and names it at the end`,
    { tags: [...tags] },
    async () => {
      const last = shell('last', 'echo last >> ran');
      expect(await run([group(), last])).toBe(true);
      expect(read('ran').split(/\s+/)).toEqual(['flaky', 'steady', 'last', 'flaky']);
      const [message, title] = printed().split('\n').slice(-2);
      expect(message).toContain('the first try');
      expect(title).toMatch(/^Passed at the second try: .*some\.test\.ts\S* [›>] is flaky$/);
    },
  );

test('fails if a test fails twice', async () => {
  expect(await run([vitest(true)])).toBe(false);
  expect(read('ran').split(' ')).toEqual(['flaky', 'steady', 'flaky']);
  expect(printed()).not.toContain('Passed at the second try');
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
