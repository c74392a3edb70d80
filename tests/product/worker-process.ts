import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from './machine.ts';
import { mkdirSync, writeFileSync } from 'node:fs';

export type RestartableWorker = {
  /** Resolves with a reason if the Worker's process ends by itself. */
  ended: Promise<string>;
  /** Kills it during its work and restarts it on the same port and state. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
};

/** A Worker that can be killed and restarted while its local services keep running. */
export async function startRestartableWorker(settings: WorkerSettings): Promise<RestartableWorker> {
  const ended = Promise.withResolvers<string>();
  let present: WorkerProcess | undefined;

  async function start(): Promise<void> {
    const started = await startWorker(settings);
    present = started;
    void tellEnd(started);
  }

  async function tellEnd(started: WorkerProcess): Promise<void> {
    const reason = await started.ended;
    if (present === started) ended.resolve(reason);
  }

  await start();
  return {
    ended: ended.promise,
    async restart() {
      const old = present;
      present = undefined;
      await old?.kill();
      await start();
    },
    async stop() {
      await present?.stop();
    },
  };
}

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

type WorkerProcess = {
  ended: Promise<string>;
  stop: () => Promise<void>;
  /** Kills it and all its children at once. */
  kill: () => Promise<void>;
};

/** Runs `wrangler dev` in a process group of its own, which ends with this process. */
async function startWorker(settings: WorkerSettings): Promise<WorkerProcess> {
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

/** Writes the Worker's configuration without its build step, for a built tree; returns the file. */
export async function writeBuiltConfig(root: string, stateDir: string): Promise<string> {
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  const { rawConfig } = readRawConfig({ config: join(root, 'wrangler.toml') });
  const { build: _build, ...config } = rawConfig;
  const file = join(stateDir, 'wrangler.json');
  const absolute = {
    ...config,
    main: join(root, String(config.main)),
    assets: { ...config.assets, directory: join(root, String(config.assets?.directory)) },
  };
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(file, JSON.stringify(absolute));
  return file;
}
