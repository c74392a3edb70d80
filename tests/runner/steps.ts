import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/*
 * `concurrently` would leave most of this to us: which lines are shown, the logs, and the end of whole process groups
 * (it needs `ps`, and misses a process whose parent has ended). On Node 20 it would add a warning to `npm ci`.
 */

export type Step = { name: string; command: string; args: string[] };

type Run = {
  together: number;
  /** The folder for the whole output of each step. */
  logs: string;
  /** Lets the other steps run to their end when one has failed. */
  keepGoing?: boolean;
  stop: AbortSignal;
  print?: (line: string) => void;
};

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The steps start many Node processes; with compiled code at hand a start takes about a fifth less processor time. */
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'), ...process.env };

/** What Vitest prints when a file has ended, and Playwright when a test has. */
const shown = /^ *[✓✘❯] .*\.test\.ts(?: \(|:\d+:\d+ ›)/;
/** What stands before all failures of a run of either. */
const beginOfFailures = /^⎯+ (?:Failed|Unhandled)|^ +1\) /;
const killAfterMs = 20_000;
const keptRuns = 5;

/**
 * Runs steps in their order, several at once. Shows a line for each file or browser test and each step, and failures as
 * a whole; all other output goes to the logs. Ends the other steps at the first failure unless `keepGoing`. Returns whether all passed.
 */
export async function runSteps(
  steps: Step[],
  { together, logs, keepGoing = false, stop, print = printLine }: Run,
): Promise<boolean> {
  mkdirSync(logs, { recursive: true });
  const failed = new AbortController();
  const signal = AbortSignal.any([stop, failed.signal]);
  const waiting = [...steps];
  let passed = true;
  const work = async () => {
    for (let step = waiting.shift(); step && !signal.aborted; step = waiting.shift()) {
      if (await runStep(step, { logs, print, signal })) continue;
      passed = false;
      if (!keepGoing) failed.abort();
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  return passed && !signal.aborted;
}

type Output = { logs: string; print: (line: string) => void; signal: AbortSignal };

async function runStep(
  { name, command, args }: Step,
  { logs, print, signal }: Output,
): Promise<boolean> {
  const begun = performance.now();
  const log = join(logs, `${name.replaceAll(/[^\w.-]+/g, '-')}.log`);
  const file = createWriteStream(log);
  const hidden: string[] = [];
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const unwatch = endGroupOn(signal, child);
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (colored) => {
      const line = stripVTControlCharacters(colored);
      file.write(`${line}\n`);
      if (shown.test(line)) print(line);
      else hidden.push(line);
    });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => hidden.push(error.message));
    child.once('close', resolve);
  });
  unwatch();
  await new Promise((resolve) => file.end(resolve));
  const line = `${secondsOf(performance.now() - begun)}  ${name}`;
  if (code === 0) print(`✓ ${line}`);
  else if (signal.aborted) print(`✗ ${line} was stopped`);
  else {
    const first = hidden.findIndex((each) => beginOfFailures.test(each));
    for (const each of hidden.slice(Math.max(0, first))) print(`│ ${each}`);
    print(`✗ ${line} failed; its whole output is in ${relative(root, log)}`);
  }
  return code === 0;
}

/** A step is a group of processes: npm's shell would not pass the signal on. */
function endGroupOn(signal: AbortSignal, child: ChildProcess): () => void {
  let timer: NodeJS.Timeout | undefined;
  const kill = (name: 'SIGTERM' | 'SIGKILL') => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      return; // All of its processes have ended.
    }
  };
  const end = () => {
    kill('SIGTERM');
    timer = setTimeout(() => kill('SIGKILL'), killAfterMs);
  };
  signal.addEventListener('abort', end);
  return () => {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
  };
}

export function npmScript(script: string, ...args: string[]): Step {
  const more = args.length > 0 ? ['--', ...args] : [];
  return { name: script, command: 'npm', args: ['run', '--silent', script, ...more] };
}

/** The API tests as steps, of which each runs a part of the files. */
export function apiSteps(count: number, ...args: string[]): Step[] {
  const shards = Array.from({ length: count }, (_, index) => `${index + 1}/${count}`);
  return shards.map((shard) => ({
    ...npmScript('test:api', ...args, `--shard=${shard}`),
    name: `test:api ${shard}`,
  }));
}

/** A new folder for the logs of a run; removes those of all but the newest runs. */
export function newLogFolder(): string {
  const all = join(root, '.wrangler/test-logs');
  mkdirSync(all, { recursive: true });
  const old = readdirSync(all)
    .toSorted()
    .slice(0, 1 - keptRuns);
  for (const name of old) rmSync(join(all, name), { recursive: true });
  const folder = join(all, `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${process.pid}`);
  mkdirSync(folder);
  return relative(process.cwd(), folder);
}

export const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8);

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

export type Plan = { together: number; apiShards: number; browserWorkers: number };

const measuredMs = 600;

/**
 * How many processors' time these tests can have: all on an idle machine, a third beside twice as many busy ones. Takes
 * part in the competition for the processors for a moment and measures the share it gets. The load average lags a minute
 * behind: `npm ci` has just raised it, and a process that has just begun does not show in it yet.
 */
export async function measureCapacity(): Promise<number> {
  const cores = availableParallelism();
  const spin = `const end = performance.now() + ${measuredMs}; while (performance.now() < end);`;
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    Array.from({ length: cores }, () => once(new Worker(spin, { eval: true }), 'exit')),
  );
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1000 / (performance.now() - begun);
  return Math.min(cores, share);
}

/**
 * What runs at once. A test waits for a part of its time, so there are more processes than processors; more than these
 * take each other's caches: on two idle cores, four steps took 540 s and five with three browser tests 629 s
 * (2026-11-23).
 */
export function planFor(free: number): Plan {
  const together = free < 0.4 ? 2 : between(3, Math.round(1 + free), 9);
  const browserWorkers = between(1, Math.round(1.4 + free * 0.4), 6);
  return { together, apiShards: between(1, together - 2, 6), browserWorkers };
}

const between = (least: number, value: number, most: number): number =>
  Math.max(least, Math.min(most, value));
