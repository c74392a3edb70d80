import { spawn } from 'node:child_process';
import { addAbortListener, once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';

/** The options `again` make a command repeat its failed tests alone; without them it has no second try. */
export type Group = { name: string; command: string; again?: string | undefined };
/** `logs` is a folder for the output; `strict` fails a run in which a test needed its second try. */
type Settings = { logs: string; strict: boolean; stop: AbortSignal };
/** Messages by test, and by the group's name if it must be repeated whole. */
type Failures = Map<string, string>;

/** How Vitest (`FAIL file > test`) and Playwright (`1) file › test ──`) begin a failure, and its first line. */
const failedTest = /^ *(?:FAIL|\d+\)) +(.+?)[ ─]*$(?=(?:\n *FAIL .*)*\s*^ *(.*)$)/gm;
/** How Vitest and Playwright begin and count errors that no failed test stands for. */
const outsideTests = /^⎯+ Unhandled Errors|not a part of any test/m;

/** Runs all stages, then repeats what failed, alone. Returns whether the run is green. */
export async function runGroups(stages: Group[][], settings: Settings): Promise<boolean> {
  mkdirSync(settings.logs, { recursive: true });
  const found = new Map<Group, Failures>();
  for (const groups of stages)
    await Promise.all(groups.map(async (group) => found.set(group, await run(group, settings))));

  const saved: [test: string, message: string][] = [];
  let isBroken = false;
  for (const [group, failures] of found) {
    if (failures.size === 0) continue;
    if (await isFlaky(group, failures, settings)) saved.push(...failures);
    else isBroken = true;
  }

  for (const [test, message] of saved) console.log(`${message}\nPassed at the second try: ${test}`);
  return !isBroken && !(settings.strict && saved.length > 0);
}

/** Repeats the failed tests, all of which must run, or the whole group. */
async function isFlaky({ name, command, again }: Group, failures: Failures, settings: Settings) {
  if (again === undefined) return false;

  const [options, least] = failures.has(name) ? ['', 0] : [again, failures.size];
  const second = { name: `${name}, second try`, command: `${command} ${options}` };
  return (await run(second, settings, least)).size === 0;
}

/** Prints a group's failures, then a line for it; returns them. It fails if fewer than `least` tests pass. */
async function run({ name, command }: Group, { logs, stop }: Settings, least = 0) {
  if (stop.aborted) return new Map([[name, 'Stopped']]);

  const begun = performance.now();
  const file = `${logs}/${name.replaceAll(/\W+/g, '-')}.log`;
  const isDone = await execute(command, file, stop);
  const seconds = Math.round((performance.now() - begun) / 1000);

  const output = readFileSync(file, 'utf8').trim();
  const counts = output.match(/\d+ passed/g)?.at(-1) ?? '';
  const isPassed = isDone && (Number.parseInt(counts) || 0) >= least;
  const line = `${name}  ${counts}  ${seconds} s`;
  const firstFailure = output.search(/^⎯+ (?:Failed|Unhandled)|^ +1\) |^\w*Error: /m);
  const shown = output.slice(Math.max(0, firstFailure));
  console.log(isPassed ? `✓ ${line}` : `${shown}\n✗ ${line}`);
  if (isPassed) return new Map();

  const failures: Failures = new Map();
  for (const [, test = '', message = ''] of shown.matchAll(failedTest)) failures.set(test, message);
  const reasons = shown.match(/^\w*Error: .*/gm) ?? shown.split('\n');
  if (failures.size === 0 || outsideTests.test(shown)) failures.set(name, reasons.at(-1)!);
  return failures;
}

/** Runs a command in a process group of its own, which ends as a whole when the run is stopped. */
async function execute(command: string, file: string, stop: AbortSignal): Promise<boolean> {
  const log = openSync(file, 'w');
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(command, { shell: true, detached: true, env, stdio: ['ignore', log, log] });
  using _listener = addAbortListener(stop, () => process.kill(-child.pid!, 'SIGTERM'));
  const [code] = await once(child, 'exit');
  return code === 0;
}
