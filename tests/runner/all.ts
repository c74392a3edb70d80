import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ensureHeadlessBrowser } from '../browser/browser.ts';
import { messageOf, requireDiskSpace, stopSignal } from '../product/machine.ts';
import {
  measureCapacity,
  planFor,
  type Plan,
  apiSteps,
  newLogFolder,
  npmScript,
  printLine as print,
  runSteps,
  secondsOf,
} from './steps.ts';

/** `npm test`: every check and test, in a random order, with as many processes at once as the machine can carry. */
const stop = stopSignal('test');

const begun = performance.now();
const duration = () => secondsOf(performance.now() - begun).trim();
const passed = await run().catch((error: unknown) => {
  print(messageOf(error));
  return false;
});
process.exit(passed ? 0 : 1);

async function run(): Promise<boolean> {
  const { seed, keepGoing } = readOptions();
  requireDiskSpace('.');
  ensureHeadlessBrowser();
  const free = await measureCapacity();
  const plan = planFor(free);
  const logs = newLogFolder();
  print(
    `${free.toFixed(1)} cores are free: ${plan.together} steps at once, ${plan.browserWorkers} browser tests.`,
  );
  print(`The order is that of --seed=${seed}; the whole output goes to ${logs}.`);
  for (const { together, steps } of phases(plan, seed, keepGoing))
    if (!(await runSteps(steps, { together, logs, keepGoing, stop }))) {
      print(`Failed after ${duration()}. Repeat this order with: npm test -- --seed=${seed}`);
      return false;
    }
  print(`Everything passed in ${duration()}.`);
  return true;
}

/** The build first, since most of the tests need it; then the long steps, and the short ones beside them. */
function phases({ together, apiShards, browserWorkers }: Plan, seed: number, keepGoing: boolean) {
  // Both print why a test failed only once they end.
  const bail = keepGoing ? '0' : '1';
  const order = [
    '--sequence.shuffle.files',
    `--sequence.seed=${seed}`,
    '--reporter=default',
    `--bail=${bail}`,
  ];
  const vitest = (script: string) =>
    npmScript(script, ...order, ...(together < 4 ? ['--maxWorkers=1'] : []));
  const options = [`--shuffle=${seed}`, `--workers=${browserWorkers}`, `--max-failures=${bail}`];
  const browser = npmScript('test:browser', ...options);
  const faults = npmScript('test:faults', '--seconds=25', '--no-latencies');
  const checks = ['test:operations', 'test:services', 'test:rules', 'test:build'].map(vitest);
  return [
    { together: 1, steps: [npmScript('build')] },
    { together: 1, steps: [npmScript('build:pseudo')] },
    {
      together,
      steps: [
        browser,
        ...apiSteps(apiShards, ...order),
        ...checks,
        faults,
        npmScript('types'),
        npmScript('lint'),
      ],
    },
  ];
}

function readOptions() {
  const seed = { type: 'string', default: String(randomInt(1_000_000)) } as const;
  const { values } = parseArgs({
    options: { seed, 'keep-going': { type: 'boolean', default: false } },
  });
  if (/^\d+$/.test(values.seed))
    return { seed: Number(values.seed), keepGoing: values['keep-going'] };
  throw new Error(`--seed is a whole number, not "${values.seed}".`);
}
