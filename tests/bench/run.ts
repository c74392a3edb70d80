import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, platform, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { stopSignal } from '../product/machine.ts';
import { measureCalls, measureCleanup, measureGrowth, measureLoad } from './parts/calls.ts';
import { measureChat, measureSendingFar, measureVoice } from './parts/chat.ts';
import { measureCrowd, measureDelivery, measureAbandonedStreams } from './parts/streams.ts';
import { measureLanding, measureReturning } from './parts/pages.ts';
import { withFigures } from './figures.ts';
import { partText, type Part, measureStealTime } from './measurement.ts';
import { Rig } from './rig/rig.ts';
import { root, stateDir } from './rig/settings.ts';

const parts: Record<string, (rig: Rig, quick: boolean) => Promise<Part>> = {
  a: measureCalls,
  b: measureDelivery,
  d: measureGrowth,
  e: measureLanding,
  f: measureAbandonedStreams,
  // The database in the same place, and in the same region: the standard distance.
  g: (rig, quick) => measureCalls(rig, quick, 60, 2),
  h: (rig, quick) => measureCalls(rig, quick, 24, 10),
  i: measureChat,
  j: measureReturning,
  k: measureLoad,
  l: measureCrowd,
  m: measureCleanup,
  n: measureSendingFar,
  o: measureVoice,
};

const { values } = parseArgs({
  options: {
    /** The letters of the parts to run: `--only ab`. */
    only: { type: 'string', default: Object.keys(parts).join('') },
    quick: { type: 'boolean', default: false },
    /** Uses the website in dist/web without building it. */
    built: { type: 'boolean', default: false },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n`);

process.chdir(root);
stopSignal('bench').addEventListener('abort', () => process.exit(130));
mkdirSync(stateDir, { recursive: true });
if (!values.built)
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
const machine = `${availableParallelism()} cores, ${memory}, ${platform()}`;
print(`${date}, ${machine}${values.quick ? ', the short form' : ''}`);
const results: Record<string, Part> = {};
for (const letter of values.only) {
  const measure = parts[letter];
  if (!measure)
    throw new Error(`There is no part ${letter}; there are ${Object.keys(parts).join(', ')}.`);
  print(`\nMeasuring part ${letter} …`);
  const [stolen, begun] = [measureStealTime(), performance.now()];
  await using rig = new Rig();
  results[letter] = await measure(rig, values.quick);
  const took = Math.round((performance.now() - begun) / 1000);
  print(partText(results[letter]));
  print(
    `It took ${took} s. The host took ${(stolen() * 100).toFixed(1)} % of the processors away meanwhile.`,
  );
}
const { quick } = values;
const run = { date, machine, parts: results };
writeFileSync('bench.json', JSON.stringify({ ...run, quick }, null, 2));
const page = 'tests/bench/README.md';
if (!quick) writeFileSync(page, withFigures(readFileSync(page, 'utf8'), run));
const targets = Object.values(results).flatMap((part) => part.targets);
const missed = targets.filter(({ value, atMost }) => !(value <= atMost)).length;
print(
  `\n${missed === 0 ? 'Every target is met.' : `${missed} missed.`} The figures stand in bench.json${quick ? '' : ` and ${page}`}.`,
);
process.exit(missed === 0 ? 0 : 1);
