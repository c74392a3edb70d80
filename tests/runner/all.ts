import { availableParallelism } from 'node:os';
import { ensureHeadlessBrowser } from '../browser/browser.ts';
import { messageOf, requireDiskSpace, stopSignal, withoutNetwork } from '../product/machine.ts';
import { runGroups, type Group } from './groups.ts';

/** `npm test`: all checks and tests. `--full` adds the long tours and the suites with faults; `--strict` fails for a second try. */
const strict = process.argv.includes('--strict');
if (process.argv.includes('--full')) process.env['TEST_FULL'] = 'yes';
// Compiled code at hand saves a fifth of what the start of a Node process costs.
process.env['NODE_COMPILE_CACHE'] ??= 'node_modules/.cache/node';

const npm = (name: string, options = '', again?: string): Group => {
  return {
    name,
    command: `npm run --silent ${name} -- ${options}`,
    again,
  };
};
/** The product starts, and no rule or command asks for anything, where there is no network. */
const offline = (group: Group): Group => {
  const through = (withoutNetwork() ?? []).map((word) => `'${word}'`);
  return { ...group, command: [...through, group.command].join(' ') };
};
const report = './tests/runner/failure-report.ts';
const vitest = `--reporter=minimal --reporter=${report}`;
const groups = [
  npm('test:browser', `--reporter=dot,${report}`, '--last-failed --workers=1'),
  npm('test:api', vitest, '--lastFailed'),
  offline(npm('test:node', vitest, '--lastFailed')),
  ...['types', 'lint'].map((name) => npm(name)),
  ...(process.env['TEST_FULL']
    ? [npm('test:faults', '--seconds=60 --no-latencies', ''), npm('test:withdrawals', '', '')]
    : []),
];

const isGreen = await run().catch((error: unknown) => console.log(messageOf(error)));
const seconds = Math.round(performance.now() / 1000);
console.log(`${isGreen ? 'Everything passed' : 'Failed'} in ${seconds} s.`);
process.exit(isGreen ? 0 : 1);

async function run(): Promise<boolean> {
  requireDiskSpace('.');
  ensureHeadlessBrowser();
  const together = availableParallelism();
  const settings = {
    together,
    logs: '.wrangler/test-logs',
    strict,
    stop: stopSignal('test'),
  };
  return (await runGroups([npm('build:tests')], settings)) && runGroups(groups, settings);
}
