import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';

export type Ran = { code: number; stdout: string; stderr: string };

let runs = 0;

/**
 * Runs a program of ours in this process, with these settings alone: one of its own takes a second and a half of a
 * processor, most of it for what the program imports.
 */
export async function runHere(file: string, words: string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += String(text);
      return true;
    }),
  );
  const program = resolve(file);
  const own = { argv: process.argv, env: process.env };
  process.argv = [process.execPath, program, ...words];
  process.env = env;
  runs += 1;
  // With another query, the program is evaluated again, and the modules that it imports are not.
  await import(/* @vite-ignore */ `${pathToFileURL(program).href}?${runs}`).finally(() => {
    for (const spy of spies) spy.mockRestore();
    Object.assign(process, own);
  });
  const code = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return { code, ...output };
}

/** Runs a program in a process of its own. */
export function runApart(program: string, words: string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return promisify(execFile)(program, words, { env, timeout: 60_000 })
    .then((output) => ({ code: 0, ...output }))
    .catch((failed: Ran) => failed);
}
