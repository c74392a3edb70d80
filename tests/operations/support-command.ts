import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { product } from './shared-product.ts';

export type Ran = { code: number; stdout: string; stderr: string };

const { vars, auditFile } = product;
const env = { PATH: process.env['PATH'], ...vars, SUPPORT_AUDIT_FILE: auditFile };
const runnerFile = fileURLToPath(new URL('./command-runner.ts', import.meta.url));
let runner: ChildProcess | undefined;

/** Runs a support command with the settings of the product, in the same process as the command before. */
export async function support(...args: string[]): Promise<Ran> {
  runner ??= startRunner();
  runner.send(args);
  const [ran] = (await once(runner, 'message')) as [Ran];
  return ran;
}

/** It ends with the process of the tests. */
function startRunner(): ChildProcess {
  const started = fork(runnerFile, { env });
  started.unref();
  started.channel?.unref();
  return started;
}

/** Runs a support command in a process of its own, as `npm run support` does. */
export const supportProcess = (...args: string[]) => ownerProcess('support/support-command.ts', ...args);

/** Runs a command of the owner, a file of `worker/operations`, in a process of its own. */
export async function ownerProcess(file: string, ...args: string[]): Promise<Ran> {
  const command = ['.ci/require-node.js', `worker/operations/${file}`, ...args];
  return promisify(execFile)(process.execPath, command, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ran) => ({ code, stdout, stderr }),
  );
}

/** What a command prints with `--json`. */
export async function supportJson(...args: string[]): Promise<Record<string, any>> {
  const { stdout } = await support(...args, '--json');
  return JSON.parse(stdout) as Record<string, any>;
}

type AuditLine = { command: string; about: string; outcome: string; env: string };

export const auditText = () => readFileSync(auditFile, 'utf8');

export const auditLines = () =>
  auditText()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditLine);
