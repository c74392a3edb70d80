import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** The options `again` make a command repeat its failed tests alone; without them it has no second try. */
export type Group = {
  name: string;
  command: string;
  again?: string | undefined;
};
/** `logs` is a folder for the output; `strict` fails a run in which a test needed its second try. */
type Settings = {
  together: number;
  logs: string;
  strict: boolean;
  stop: AbortSignal;
};
type Failure = { name: string; message?: string | undefined };

/** Runs all groups to their end, then what has failed once more, alone. Returns whether the run is green. */
export async function runGroups(groups: Group[], settings: Settings): Promise<boolean> {
  mkdirSync(settings.logs, { recursive: true });
  const found = new Map<Group, Failure[]>();
  const runFirst = async (group: Group) => {
    found.set(group, await run(group, settings));
  };
  const concurrency = settings.together;
  await Readable.from(groups).forEach(runFirst, { concurrency });

  const saved: Failure[] = [];
  const broken: Failure[] = [];
  for (const [group, failures] of found) {
    const passes = await passesAgain(group, failures, settings);
    (passes ? saved : broken).push(...failures);
  }

  saved.forEach(printSaved);
  if (settings.strict && saved.length > 0) return false;
  return broken.length === 0;
}

function printSaved({ name, message = '' }: Failure): void {
  const [firstLine] = message.trim().split('\n');
  console.log(`${firstLine}\nPassed at the second try: ${name}`);
}

/** Repeats the failed tests; the whole group if it has ended without a report that names them. */
async function passesAgain(group: Group, [first]: Failure[], settings: Settings) {
  const { name, command, again } = group;
  if (!first || again === undefined) return false;

  const isWhole = first.name === name;
  const repeated = isWhole ? command : `${command} ${again}`;
  const failures = await run({ name: `${name}, second try`, command: repeated }, settings);
  return failures.length === 0;
}

/** Prints a line for the group, after its failures, without what was logged before. Returns them. */
async function run({ name, command }: Group, { logs, stop }: Settings): Promise<Failure[]> {
  if (stop.aborted) return [{ name }];

  const begun = performance.now();
  const file = join(logs, name.replaceAll(/\W+/g, '-'));
  writeFileSync(`${file}.jsonl`, '');
  const isPassed = await execute(command, file, stop);
  const seconds = Math.round((performance.now() - begun) / 1000);

  const output = readFileSync(`${file}.log`, 'utf8').trim();
  const counts = output.match(/\d+ passed/g)?.at(-1) ?? '';
  const line = `${name}  ${counts}  ${seconds} s`;
  console.log(isPassed ? `✓ ${line}` : `${failuresIn(output)}\n✗ ${line}`);
  return isPassed
    ? []
    : reportedIn(file, {
        name,
        message: output.split('\n').at(-1),
      });
}

/** What a runner prints from the first failure on. */
function failuresIn(output: string): string {
  const begin = output.search(/^⎯+ (?:Failed|Unhandled)|^ +1\) /m);
  return output.slice(Math.max(0, begin));
}

/** The failures that the runner has named; the one of the group if it has named none. */
function reportedIn(file: string, ofGroup: Failure): Failure[] {
  const lines = readFileSync(`${file}.jsonl`, 'utf8').split('\n');
  const failures = lines.filter(Boolean).map((line): Failure => JSON.parse(line));
  return failures.length > 0 ? failures : [ofGroup];
}

/** Runs a command in a process group of its own, which ends as a whole when the run is stopped. */
async function execute(command: string, file: string, stop: AbortSignal): Promise<boolean> {
  const log = openSync(`${file}.log`, 'w');
  const env = {
    ...process.env,
    NO_COLOR: '1',
    TEST_REPORT: `${file}.jsonl`,
  };
  const child = spawn(command, {
    shell: true,
    env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  stop.addEventListener('abort', () => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}
