import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The version that a run created, as Wrangler's machine-readable output names it. */
export type Version = { id: string; worker: string };

export type WranglerRun = { ok: boolean; output: string; version: Version | null };

type Options = { env?: NodeJS.ProcessEnv; isQuiet?: boolean };

/** Runs Wrangler with these arguments; the owner sees its output unless it is quiet. */
export type Wrangler = (args: string[], options?: Options) => Promise<WranglerRun>;

/** Wrangler as the project installs it, or the script of another one. */
export function openWrangler(script = join(root, 'node_modules/wrangler/bin/wrangler.js')): Wrangler {
  return async (args, { env = process.env, isQuiet = false } = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'solace-wrangler-'));
    const report = join(folder, 'report');
    try {
      const child = spawn(process.execPath, [script, ...args], {
        cwd: root,
        stdio: ['inherit', 'pipe', 'pipe'],
        env: { ...env, WRANGLER_OUTPUT_FILE_PATH: report },
      });
      const stdout = collect(child.stdout, isQuiet ? null : process.stdout);
      const stderr = collect(child.stderr, process.stderr);
      const [code] = (await once(child, 'close')) as [number | null];
      return { ok: code === 0, output: stdout() + stderr(), version: versionIn(report) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

function collect(stream: Readable, shown: NodeJS.WritableStream | null): () => string {
  const chunks: string[] = [];
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    chunks.push(chunk);
    shown?.write(chunk);
  });
  return () => chunks.join('');
}

type Entry = { version_id?: string | null; worker_name?: string | null };

function versionIn(report: string): Version | null {
  if (!existsSync(report)) return null;
  const lines = readFileSync(report, 'utf8').split('\n').filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const named = entries.findLast(({ version_id: id }) => id);
  return named ? { id: named.version_id!, worker: named.worker_name ?? '' } : null;
}
