import { ensureHeadlessBrowser } from '../browser/browser.ts';
import { messageOf, requireDiskSpace, stopSignal, withoutNetwork } from '../product/machine.ts';
import { runGroups, type Group } from './groups.ts';

/** `npm test`: all checks and tests. `--full` adds the long tours and the suites with faults; `--strict` fails for a second try. */
const strict = process.argv.includes('--strict');
const isFull = process.argv.includes('--full');
if (isFull) process.env['TEST_FULL'] = 'yes';
// Compiled code at hand saves a fifth of what the start of a Node process costs.
process.env['NODE_COMPILE_CACHE'] ??= 'node_modules/.cache/node';

const npm = (name: string, options = '', again?: string): Group => {
  return { name, command: `npm run --silent ${name} -- ${options}`, again };
};
/** The product starts, and no rule or command asks for anything, where there is no network. */
const offline = (group: Group): Group => {
  const through = (withoutNetwork() ?? []).map((word) => `'${word}'`);
  return { ...group, command: [...through, group.command].join(' ') };
};
// Two processors often share one core: what uses both at once costs more beside others.
const stages: Group[][] = [
  [npm('types')],
  [npm('lint')],
  [
    npm('test:api', '--reporter=minimal', '--lastFailed'),
    offline(npm('test:node', '--reporter=minimal', '--lastFailed')),
  ],
  [npm('test:browser', '--reporter=dot', '--last-failed --workers=1')],
];
const withFaults = [
  [npm('test:faults', '--seconds=60 --no-latencies', '')],
  [npm('test:withdrawals', '', '')],
];
if (isFull) stages.push(...withFaults);

const isGreen = await run().catch((error: unknown) => console.log(messageOf(error)));
const seconds = Math.round(performance.now() / 1000);
console.log(`${isGreen ? 'Everything passed' : 'Failed'} in ${seconds} s.`);
process.exit(isGreen ? 0 : 1);

async function run(): Promise<boolean> {
  requireDiskSpace('.');
  ensureHeadlessBrowser();
  const settings = { logs: '.wrangler/test-logs', strict, stop: stopSignal('test') };
  return (await runGroups([[npm('build:tests')]], settings)) && runGroups(stages, settings);
}
