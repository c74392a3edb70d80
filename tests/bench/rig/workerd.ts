import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntilReady } from '../../product/machine.ts';
import { childOf } from './process-facts.ts';
import { stateDir } from './paths-and-ports.ts';
import { workerdConfig, type WorkerdSettings } from './workerd-config.ts';

const processGroup = fileURLToPath(new URL('../../product/process-group.ts', import.meta.url));
// The package's own export names the program; its bin/workerd is a Node script, whose process would be measured
// instead.
const workerd: string = createRequire(import.meta.url)('workerd').default;

export type Running = { url: string; pid: number; stop: () => Promise<void> };

/**
 * Serves a bundle by `workerd serve`, with no proxy before it; ends with this process. `ready` is a path that responds
 * 200.
 */
export async function startWorkerd(settings: WorkerdSettings, ready: string): Promise<Running> {
  const directory = join(stateDir, 'serving', String(settings.port));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(settings.bundle.file, join(directory, 'index.js'));
  writeFileSync(join(directory, 'config.capnp'), workerdConfig(settings));
  const log = openSync(join(directory, 'log'), 'w');
  const child = spawn(process.execPath, [processGroup, workerd, 'serve', 'config.capnp'], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  const exit = once(child, 'exit');
  const stop = async () => {
    if (child.connected) child.disconnect();
    await exit;
  };
  const url = `http://127.0.0.1:${settings.port}`;
  try {
    const ended = exit.then(() => `workerd ended; its last words are in ${join(directory, 'log')}`);
    await waitUntilReady([url + ready], ended);
    return { url, pid: childOf(child.pid!), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
