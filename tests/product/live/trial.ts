import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../machine.ts';
import { startLiveWorker } from './live-worker.ts';

type Settings = { root: string; stateDir: string; varsFile: string };

const program = fileURLToPath(import.meta.url);

/**
 * Throws with the reason if the Worker cannot start with the present `wrangler.toml`. It is tried in a process of its
 * own and with a state of its own: in the running one, workerd would have ended.
 */
export async function tryWorker({ stateDir, ...settings }: Settings): Promise<void> {
  const folder = mkdtempSync(join(stateDir, 'trial-'));
  const tried = { ...settings, stateDir: folder };
  try {
    await promisify(execFile)(process.execPath, [program, JSON.stringify(tried)]);
  } catch (error) {
    throw new Error((error as { stderr: string }).stderr.trim(), { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

if (process.argv[1] === program) await run(JSON.parse(process.argv[2] ?? '') as Settings);

async function run(settings: Settings): Promise<void> {
  const ignore = () => undefined;
  const cacheDir = '.wrangler/vite/trial';
  try {
    const worker = await startLiveWorker({
      ...settings,
      cacheDir,
      report: ignore,
      changed: ignore,
    });
    await worker.close();
    process.exit(0);
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
}
