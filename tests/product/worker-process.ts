import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from './machine.ts';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const processGroup = fileURLToPath(new URL('process-group.ts', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

const environment = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
  FORCE_COLOR: '0',
};

export type WorkerSettings = {
  port: number;
  /** The folder for the state of database, services and Durable Objects. */
  stateDir: string;
  varsFile: string;
  /** False if the website is in `dist` already. */
  build: boolean;
  /** Receives the Worker's output, line by line. */
  log: (line: string) => void;
  /** False if `log` receives errors alone. */
  logRequests: boolean;
};

/** A Worker that can be killed during its work and restarted on its port and state; `ended` resolves if it ends by itself. */
export async function startRestartableWorker(settings: WorkerSettings) {
  const ended = Promise.withResolvers<string>();
  let present: Awaited<ReturnType<typeof startWorker>> | undefined;

  async function start(): Promise<void> {
    const started = await startWorker(settings);
    present = started;
    const reason = () => `The Worker's process ended.\n${started.last.join('\n')}`;
    void started.exit.then(() => present === started && ended.resolve(reason()));
  }

  await start();
  return {
    ended: ended.promise,
    /** Kills it and all its children at once, then starts it again. */
    restart: async () => {
      const { child, exit } = present!;
      present = undefined;
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
      await exit;
      await start();
    },
    stop: async () => {
      if (present?.child.connected) present.child.disconnect();
      await present?.exit;
    },
  };
}

/** Runs `wrangler dev` in a process group of its own, which ends with this process. */
async function startWorker(settings: WorkerSettings) {
  return startGroup([wrangler, 'dev', ...(await flags(settings))], settings);
}

/** Runs Node with these arguments in a process group of its own, which ends with this process. */
export function startGroup(
  args: string[],
  { stateDir, varsFile, log }: Pick<WorkerSettings, 'stateDir' | 'varsFile' | 'log'>,
) {
  mkdirSync(stateDir, { recursive: true });
  // A Worker that is killed leaves its temporary files.
  const temporary = mkdtempSync(join(stateDir, 'temporary-'));
  const child = spawn(process.execPath, [processGroup, process.execPath, ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...process.env,
      ...environment,
      WITHDRAWAL_DAYS: withdrawalDaysIn(varsFile),
      WRANGLER_LOG_PATH: join(stateDir, 'logs'),
      TMPDIR: temporary,
    },
  });
  const last = follow([child.stdout!, child.stderr!], log);
  const exit = cleanUp();

  async function cleanUp(): Promise<void> {
    await once(child, 'exit');
    killGroup(child.pid!);
    rmSync(temporary, {
      recursive: true,
      force: true,
      maxRetries: 3,
    });
  }

  return { child, exit, last };
}

/** The site leaves withdrawal out where the Worker does. */
function withdrawalDaysIn(varsFile: string): string {
  return parseEnv(readFileSync(varsFile, 'utf8'))['WITHDRAWAL_DAYS'] ?? '';
}

/** Ends what a killed leader of a process group has left. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}

/** Passes lines on, and keeps the last ones. */
function follow(streams: Readable[], log: (line: string) => void): string[] {
  const last: string[] = [];
  for (const input of streams)
    createInterface(input).on('line', (line) => {
      if (last.push(line) > 40) last.shift();
      log(line);
    });
  return last;
}

async function flags({
  port,
  stateDir,
  varsFile,
  build,
  logRequests,
}: WorkerSettings): Promise<string[]> {
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

/** Writes the Worker's configuration without its build step, and with these changes; returns the file. */
export async function writeBuiltConfig(
  root: string,
  stateDir: string,
  changes: object = {},
): Promise<string> {
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  const { build: _build, ...config } = readRawConfig({
    config: join(root, 'wrangler.toml'),
  }).rawConfig;
  const main = join(root, String(config.main));
  const assets = {
    ...config.assets,
    directory: join(root, String(config.assets?.directory)),
  };
  const file = join(stateDir, 'wrangler.json');
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(
    file,
    JSON.stringify({
      ...config,
      main,
      assets,
      ...changes,
    }),
  );
  return file;
}
