import type { Ran } from './shared-product.ts';

/**
 * Runs the program of `npm run support` once for each message, in one process: a new process would load the same
 * modules again, which takes half a second. Each run has its own arguments, output and exit code.
 */

const program = new URL('../../worker/operations/support/support-command.ts', import.meta.url);
let runs = 0;

process.on('message', (args: string[]) => void run(args));

async function run(args: string[]): Promise<void> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (text: Uint8Array | string) => {
      output[name] += String(text);
      return true;
    };
  }
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = 0;
  runs += 1;
  // With another query, Node evaluates the program again and reuses the modules that it imports.
  await import(`${program.href}?${runs}`).catch((error: Error) => {
    process.exitCode = 1;
    output.stderr += error.stack;
  });
  process.send!({ code: process.exitCode, ...output } satisfies Ran);
}
