import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { writeBuiltConfig } from './built-config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const processGroup = fileURLToPath(new URL('process-group.ts', import.meta.url));
const wrangler = fileURLToPath(new URL('../../node_modules/wrangler/bin/wrangler.js', import.meta.url));

const environment = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  FORCE_COLOR: '0',
};

export type WorkerSettings = {
  port: number;
  stateDir: string;
  varsFile: string;
  /** False if the website is in `dist` already. */
  build: boolean;
  log: (line: string) => void;
  /** False if `log` receives errors alone. */
  logRequests: boolean;
};

export type WorkerProcess = {
  ended: Promise<string>;
  stop: () => Promise<void>;
  /** Kills it and all its children at once. */
  kill: () => Promise<void>;
};

/** Runs `wrangler dev` in a process group of its own, which ends with this process. */
export async function startWorker(settings: WorkerSettings): Promise<WorkerProcess> {
  const args = [processGroup, process.execPath, wrangler, 'dev', ...(await flags(settings))];
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...environment, WRANGLER_LOG_PATH: join(settings.stateDir, 'logs') },
  });
  const last = follow([child.stdout, child.stderr], settings.log);
  const exit = once(child, 'exit');
  return {
    ended: exit.then(() => `The Worker's process ended.\n${last.join('\n')}`),
    async stop() {
      if (child.connected) child.disconnect();
      await exit;
    },
    async kill() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await exit;
    },
  };
}

/** Passes lines on, and keeps the last ones. */
function follow(streams: (Readable | null)[], log: (line: string) => void): string[] {
  const last: string[] = [];
  for (const input of streams.filter((stream) => stream !== null))
    createInterface(input).on('line', (line) => {
      if (last.push(line) > 40) last.shift();
      log(line);
    });
  return last;
}

async function flags({ port, stateDir, varsFile, build, logRequests }: WorkerSettings): Promise<string[]> {
  const config = build ? [] : ['--config', await writeBuiltConfig(root, stateDir)];
  return [
    ...config,
    `--port=${port}`,
    `--inspector-port=${await freePort(0, 'PORT')}`,
    `--persist-to=${stateDir}`,
    `--env-file=${varsFile}`,
    `--log-level=${logRequests ? 'log' : 'error'}`,
    '--show-interactive-dev-session=false',
  ];
}
