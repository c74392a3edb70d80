import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The steps start many Node processes; with compiled code at hand a start takes about a fifth less processor time. */
const env = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)),
  ...process.env,
};

export type Step = { name: string; command: string; args: string[] };

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How long a step took; its output is printed as a whole when it ends. */
type Result = { name: string; seconds: number; outcome: 'passed' | 'FAILED' | 'stopped' };

/** Runs npm scripts one after the other, in several lanes at once; stops at the first that fails, or on a signal. */
export async function runSteps(lanes: Step[][]): Promise<boolean> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  for (const signal of signals) process.on(signal, stop);
  const begun = performance.now();
  const results = (await Promise.all(lanes.map((lane) => runLane(lane, stopped)))).flat();
  for (const signal of signals) process.off(signal, stop);
  for (const { name, seconds, outcome } of results) print(`${outcome}  ${seconds} s  ${name}`);
  print(`${secondsSince(begun)} s together`);
  return results.every(({ outcome }) => outcome === 'passed');
}

async function runLane(lane: Step[], stopped: AbortController): Promise<Result[]> {
  const results: Result[] = [];
  for (const step of lane) {
    if (stopped.signal.aborted) break;
    const result = await runStep(step, stopped.signal);
    results.push(result);
    if (result.outcome !== 'passed') stopped.abort();
  }
  return results;
}

function runStep({ name, command, args }: Step, signal: AbortSignal): Promise<Result> {
  const begun = performance.now();
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  // A step is a group of processes: npm's shell would not pass the signal on.
  const end = () => child.pid && process.kill(-child.pid, 'SIGTERM');
  signal.addEventListener('abort', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return new Promise((resolve) => {
    child.once('error', (error) => (output += error.message));
    child.once('close', (code) => {
      signal.removeEventListener('abort', end);
      print(`\n> ${name}\n${output.trimEnd()}`);
      const failed = signal.aborted ? 'stopped' : 'FAILED';
      resolve({ name, seconds: secondsSince(begun), outcome: code === 0 ? 'passed' : failed });
    });
  });
}

export const npmScript = (script: string, ...args: string[]): Step => ({
  name: [script, ...args].join(' '),
  command: 'npm',
  args: ['run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])],
});

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function secondsSince(begun: number): number {
  return Math.round((performance.now() - begun) / 1000);
}
