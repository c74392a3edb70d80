import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runSteps, type Step, measureCapacity, planFor } from './steps.ts';
import { apiTests, touchedTests } from './quick.ts';

let folder: string;
let printed: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'solace-steps-'));
  printed = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A shell script that runs in the test's folder. */
const shell = (name: string, script: string) => ({
  name,
  command: 'sh',
  args: ['-c', `cd ${folder}; ${script}`],
});
const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.05; done`;
const run = (
  steps: Step[],
  together = 1,
  { stop = new AbortController().signal, keepGoing = false } = {},
) =>
  runSteps(steps, {
    together,
    logs: join(folder, 'logs'),
    print: (line) => printed.push(line),
    stop,
    keepGoing,
  });
const read = (file: string) => readFileSync(join(folder, file), 'utf8').trim();

test('runs as many steps at once as it may', async () => {
  const [one, two] = [
    shell('one', `touch 1; ${until('2')}`),
    shell('two', `touch 2; ${until('1')}`),
  ];
  expect(await run([one, two], 2)).toBe(true);
});

test('begins a step when the one before has ended', async () => {
  const note = (name: string) =>
    shell(name, `echo ${name} begins >> all; sleep 0.05; echo ${name} ends >> all`);
  expect(await run([note('one'), note('two')], 1)).toBe(true);
  expect(read('all').split('\n')).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
});

test('shows the lines of files and steps, and keeps all output in a log', async () => {
  const script = "echo '✓ tests/a.test.ts (3 tests) 5ms'; echo '✓ built in 495ms'; echo noise >&2";
  expect(await run([shell('some', script)])).toBe(true);
  expect(printed).toEqual([
    '✓ tests/a.test.ts (3 tests) 5ms',
    expect.stringMatching(/^✓ +\d+\.\d s {2}some$/),
  ]);
  const logged = read('logs/some.log').split('\n').toSorted();
  expect(logged).toEqual(['noise', '✓ built in 495ms', '✓ tests/a.test.ts (3 tests) 5ms']);
});

test.each([
  ['all output of a step that fails', 'echo one; echo two', ['│ one', '│ two']],
  [
    'the failures that Vitest lists at its end',
    "echo noise; echo '⎯⎯ Failed Tests 1 ⎯⎯'; echo why",
    ['│ why'],
  ],
  [
    'those of Playwright',
    "echo noise; echo '  1) tests/a.test.ts:2:1 › rule'; echo why",
    ['│ why'],
  ],
])('shows %s', async (_, script, last) => {
  expect(await run([shell('tests', `${script}; exit 1`)])).toBe(false);
  expect(printed.at(-1)).toMatch(/^✗ .* tests failed; its whole output is in .*tests\.log$/);
  expect(printed.slice(0, -1)).toEqual(expect.arrayContaining(last));
  expect(printed).not.toContain('│ noise');
});

test.each(['a step fails', 'it is stopped'])(
  'ends all processes when %s, and begins no more',
  async (what) => {
    const stop = new AbortController();
    const long = shell('long', '(sleep 600 & touch begun; wait); true');
    const other = shell(
      'other',
      `${until('begun')}; touch seen; ${what === 'a step fails' ? 'exit 3' : 'sleep 600'}`,
    );
    const running = run([long, other, shell('never', 'touch never')], 2, { stop: stop.signal });
    await expect.poll(() => existsSync(join(folder, 'seen')), { timeout: 30_000 }).toBe(true);
    if (what === 'it is stopped') stop.abort();
    // A step has ended when no process holds its output any more.
    expect(await running).toBe(false);
    expect(printed.join('\n')).toMatch(/✗ .* long was stopped/);
    expect(() => read('never')).toThrow('ENOENT');
  },
);

test('runs the other steps to their end when it is to keep going', async () => {
  expect(
    await run([shell('bad', 'exit 3'), shell('next', 'touch next')], 1, { keepGoing: true }),
  ).toBe(false);
  expect(read('next')).toBe('');
});

test.each([
  ['three steps at once on two idle cores', 2, { together: 3, apiShards: 1, browserWorkers: 2 }],
  ['five on four', 4, { together: 5, apiShards: 3, browserWorkers: 3 }],
  [
    'three beside four busy processes on two cores',
    2 / 3,
    { together: 3, apiShards: 1, browserWorkers: 2 },
  ],
  ['two where there is next to no room', 0.01, { together: 2, apiShards: 1, browserWorkers: 1 }],
  ['never more than nine', 128, { together: 9 }],
])('runs %s', (_, free, plan) => {
  expect(planFor(free)).toMatchObject(plan);
});

test('measures at most the processors of the machine', async () => {
  const free = await measureCapacity();
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(availableParallelism());
});

test('selects the API tests of a changed part, and changed tests, and none for a document', () => {
  const touched = touchedTests(
    ['worker/chat/conversation.ts', 'tests/api/plans.test.ts'],
    apiTests(),
  );
  const expected = ['chat', 'chat-privacy', 'plans'].map((name) => `tests/api/${name}.test.ts`);
  expect(touched).toEqual(expect.arrayContaining(expected));
  expect(touched).not.toContain('tests/api/billing.test.ts');
  expect(touchedTests(['README.md'], apiTests())).toEqual([]);
});

const parts = ['worker', 'worker/endpoints']
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((path) => !/^worker\/(docs|operations|endpoints|README\.md|tsconfig\.json)$/.test(path));

test.each([...parts, 'drizzle/schema.ts'])('knows the tests of %s', (path) => {
  expect(touchedTests([path.endsWith('.ts') ? path : `${path}/any.ts`], apiTests())).not.toEqual(
    [],
  );
});
