import { globSync, rmSync } from 'node:fs';
import { ensureHeadlessBrowser } from '../browser/browser.ts';
import { messageOf, requireDiskSpace, stopSignal, withoutNetwork } from '../product/machine.ts';
import { runGroups, type Group } from './groups.ts';

/** `npm test`: all checks and tests. `--full` adds the long tours and the suites with faults; `--strict` fails for a second try. */
const isFull = process.argv.includes('--full');
if (isFull) process.env['TEST_FULL'] = 'yes';
// Compiled code at hand saves a fifth of what the start of a Node process costs.
process.env['NODE_COMPILE_CACHE'] ??= 'node_modules/.cache/node';

const npm = (name: string, options = '', again?: string): Group => {
  return { name, command: `npm run --silent ${name} -- ${options}`, again };
};
const api = npm('test:api', '--reporter=minimal', '--lastFailed');
const node = npm('test:node', '--reporter=minimal', '--lastFailed');
const browser = npm('test:browser', '--reporter=dot', '--last-failed --workers=1');
const faults = npm('test:faults', '--seconds=60 --no-latencies', '');
const withdrawals = npm('test:withdrawals', '', '');

// The product starts, and no rule or command asks for anything, where there is no network.
const offline = (withoutNetwork() ?? []).map((word) => `'${word}'`).join(' ');
node.command = `${offline} ${node.command}`;

// Two processors often share one core: what uses both at once costs more beside others.
const stages: Group[][] = [[npm('types')], [npm('lint'), api, node], [browser]];
if (isFull) stages.push([faults], [withdrawals]);

const isGreen = await run().catch((error: unknown) => console.log(messageOf(error)));
const seconds = Math.round(performance.now() / 1000);
console.log(`${isGreen ? 'Everything passed' : 'Failed'} in ${seconds} s.`);
process.exit(isGreen ? 0 : 1);

async function run(): Promise<boolean> {
  requireDiskSpace('.');
  ensureHeadlessBrowser();
  // Vitest's `--lastFailed` also repeats what failed in earlier runs, if it finds their results.
  for (const results of globSync('node_modules/.vite/**/results.json')) rmSync(results);
  const strict = process.argv.includes('--strict');
  const settings = { logs: '.wrangler/test-logs', strict, stop: stopSignal('test') };
  return (await runGroups([[npm('build:tests')]], settings)) && runGroups(stages, settings);
}
