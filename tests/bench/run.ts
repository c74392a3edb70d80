import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stopSignal } from '../product/machine.ts';
import { measureCalls, measureCallsAt2Ms, measureCallsAt40Ms, measureCleanup, measureGrowth } from './parts/calls.ts';
import { measureChat, measureSendingFar } from './parts/chat.ts';
import { measureCrowd, measureDelivery, measureAbandonedStreams } from './parts/streams.ts';
import { measureLanding } from './parts/landing.ts';
import { measureLoad, measurePosts } from './parts/load.ts';
import { measureReturning } from './parts/returning.ts';
import { measureVoice } from './parts/voice.ts';
import { partText, type Part } from './report.ts';
import { root, stateDir } from './rig/settings.ts';
import { measureStealTime } from './rig/processes.ts';

const parts: Record<string, (quick: boolean) => Promise<Part>> = {
  a: measureCalls,
  b: measureDelivery,
  c: measurePosts,
  d: measureGrowth,
  e: measureLanding,
  f: measureAbandonedStreams,
  g: measureCallsAt2Ms,
  h: measureCallsAt40Ms,
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
setTimeout(() => {
  print('The measurement took longer than an hour.');
  process.exit(1);
}, 3_600_000).unref();

mkdirSync(stateDir, { recursive: true });
if (!values.built) execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
const about = describeRun();
print(`${about.date}, ${about.machine}${values.quick ? ', the short form' : ''}`);
const results: Record<string, Part> = {};
for (const letter of values.only) {
  const measure = parts[letter];
  if (!measure) throw new Error(`There is no part ${letter}; there are ${Object.keys(parts).join(', ')}.`);
  print(`\nMeasuring part ${letter} …`);
  const [stolen, begun] = [measureStealTime(), performance.now()];
  results[letter] = await measure(values.quick);
  print(partText(results[letter]));
  print(
    `It took ${Math.round((performance.now() - begun) / 1000)} s. The host took ${(stolen() * 100).toFixed(1)} % of the processors away meanwhile.`,
  );
}
writeFileSync(join(root, 'bench.json'), JSON.stringify({ ...about, quick: values.quick, parts: results }, null, 2));
const missed = Object.values(results).flatMap(({ targets }) =>
  targets.filter(({ value, atMost }) => !(value <= atMost)),
);
print(
  `\n${missed.length === 0 ? 'Every target is met.' : `${missed.length} missed.`} The figures stand in bench.json.`,
);
process.exit(missed.length === 0 ? 0 : 1);

function describeRun() {
  const version = (name: string) =>
    JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version as string;
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    machine: `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, ${memory} GiB, ${platform()} ${release()}`,
    versions: { node: process.version, workerd: version('workerd'), libsql: version('libsql') },
  };
}
