import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The options `again` make a command repeat its failed tests alone; without them it has no second try. */
export type Group = { name: string; command: string; again?: string | undefined };
/** `logs` is a folder for the output; `strict` fails a run in which a test needed its second try. */
type Settings = { logs: string; strict: boolean; stop: AbortSignal };
/** How Vitest (`FAIL file > test`) and Playwright (`1) file › test ──`) begin a failure, and its first line. */
const failedTest = /^ *(?:FAIL|\d+\)) +(.+?)[ ─]*$(?=(?:\n *FAIL .*)*\s*^ *(.*)$)/gm;
type Failure = { name: string; message: string };

/**
 * Runs one stage after the other, and the groups of a stage at once; then what has failed once
 * more, alone. Returns whether the run is green.
 */
export async function runGroups(stages: Group[][], settings: Settings): Promise<boolean> {
  mkdirSync(settings.logs, { recursive: true });
  const found = new Map<Group, Failure[]>();
  for (const groups of stages)
    await Promise.all(groups.map(async (group) => found.set(group, await run(group, settings))));

  const saved: Failure[] = [];
  let isBroken = false;
  for (const [group, failures] of found) {
    if (failures.length === 0) continue;
    if (await passesAgain(group, failures, settings)) saved.push(...failures);
    else isBroken = true;
  }

  for (const { name, message } of saved)
    console.log(`${message}\nPassed at the second try: ${name}`);
  return !isBroken && !(settings.strict && saved.length > 0);
}

/** Repeats the failed tests; the whole group if it has ended without a report that names them. */
async function passesAgain(group: Group, failures: Failure[], settings: Settings) {
  const { name, command, again } = group;
  if (again === undefined) return false;

  const isWhole = failures.some((failure) => failure.name === name);
  const repeated = isWhole ? command : `${command} ${again}`;
  const left = await run({ name: `${name}, second try`, command: repeated }, settings);
  return left.length === 0;
}

/** Prints a line for the group, after its failures, without what was logged before. Returns them. */
async function run({ name, command }: Group, { logs, stop }: Settings): Promise<Failure[]> {
  if (stop.aborted) return [{ name, message: 'Stopped' }];

  const begun = performance.now();
  const file = join(logs, `${name.replaceAll(/\W+/g, '-')}.log`);
  const isPassed = await execute(command, file, stop);
  const seconds = Math.round((performance.now() - begun) / 1000);

  const output = readFileSync(file, 'utf8').trim();
  const counts = output.match(/\d+ passed/g)?.at(-1) ?? '';
  const line = `${name}  ${counts}  ${seconds} s`;
  const firstFailure = output.search(/^⎯+ (?:Failed|Unhandled)|^ +1\) /m);
  const shown = output.slice(Math.max(0, firstFailure));
  console.log(isPassed ? `✓ ${line}` : `${shown}\n✗ ${line}`);
  if (isPassed) return [];

  const failures = [...shown.matchAll(failedTest)];
  if (failures.length === 0) return [{ name, message: output.split('\n').at(-1)! }];
  return failures.map(([, test = '', message = '']) => ({ name: test, message }));
}

/** Runs a command in a process group of its own, which ends as a whole when the run is stopped. */
async function execute(command: string, file: string, stop: AbortSignal): Promise<boolean> {
  const log = openSync(file, 'w');
  const child = spawn(command, {
    shell: true,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', log, log],
    detached: true,
  });
  stop.addEventListener('abort', () => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}
