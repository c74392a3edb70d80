import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { memoize } from '../../../worker/lib/memoize.ts';
import { waitUntilReady } from '../../product/machine.ts';
import { writeBuiltConfig } from '../../product/worker-process.ts';
import { stateDir, root } from './settings.ts';

// The package's own export names the program; bin/workerd is a Node script, whose process would be measured instead.
const workerd: string = createRequire(import.meta.url)('workerd').default;

export type Running = {
  url: string;
  pid: number;
  stop: () => Promise<void>;
};

/** Starts a program with its order, in a process that ends with this one; resolves when it says that it is ready. */
export async function startProgram(program: string, order: object, url = ''): Promise<Running> {
  const child = fork(join(root, 'tests/bench', program), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send(order);
  const stop = stopping(child);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${program} ended`);
  });
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  return { url, pid: child.pid!, stop };
}

function stopping(child: ChildProcess): Running['stop'] {
  const exit = once(child, 'exit');
  return async () => {
    if (child.connected) child.disconnect();
    await exit;
  };
}

export type WorkerdSettings = {
  /** The Worker's main file: `worker/index.ts`, or one of `tests/bench/workers`. */
  main: string;
  port: number;
  disk?: string | undefined;
  vars: Record<string, string>;
};

/** Serves a Worker by `workerd serve`, with no proxy before it; ends with this process. */
export async function startWorkerd(settings: WorkerdSettings): Promise<Running> {
  const { file, config } = await bundleOf(settings.main);
  const directory = join(stateDir, 'serving', String(settings.port));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(file, join(directory, 'index.js'));
  writeFileSync(join(directory, 'config.capnp'), workerdConfig(settings, config));
  const log = openSync(join(directory, 'log'), 'w');
  const processGroup = join(root, 'tests/product/process-group.ts');
  const child = spawn(process.execPath, [processGroup, workerd, 'serve', 'config.capnp'], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  await using starting = new AsyncDisposableStack();
  starting.defer(stopping(child));
  const url = `http://127.0.0.1:${settings.port}`;
  const ended = once(child, 'exit').then(
    () => `workerd ended; its last words are in ${join(directory, 'log')}`,
  );
  await waitUntilReady([`${url}/api/health`], ended);
  // The single child of the process group.
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  const running = starting.move();
  return { url, pid, stop: () => running.disposeAsync() };
}

type Bundle = {
  file: string;
  config: { compatibility_date: string; compatibility_flags?: string[] };
};

const bundleOf = memoize(async (main: string): Promise<Bundle> => {
  const directory = join(stateDir, 'workers', basename(main, '.ts'));
  const config = await writeBuiltConfig(root, directory);
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
  const args = [
    'deploy',
    join(root, main),
    '--dry-run',
    '--minify',
    '--env=',
    `--outdir=${directory}`,
  ];
  const env = {
    ...process.env,
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    FORCE_COLOR: '0',
  };
  const options = { cwd: root, env, timeout: 120_000 };
  await promisify(execFile)(process.execPath, [wrangler, ...args, `--config=${config}`], options);
  const file = join(directory, `${basename(main, '.ts')}.js`);
  return {
    file,
    config: JSON.parse(readFileSync(config, 'utf8')) as Bundle['config'],
  };
});

const quote = (text: string) => JSON.stringify(text);

/** A rate limiter as Cloudflare's, which refuses no measured call. */
const rateLimiter = 'export default () => ({ limit: async () => ({ success: true }) });';

/**
 * The configuration of a plain workerd that serves a bundle on this machine alone. Objects store in memory unless a
 * folder is given: a file for each object would add this disk's cost to the product's.
 */
function workerdConfig({ port, vars, disk }: WorkerdSettings, config: Bundle['config']): string {
  const { compatibility_date: date, compatibility_flags: flags = [] } = config;
  const bindings = [
    '(name = "LIVE_USER", durableObjectNamespace = "LiveUser")',
    ...Object.entries(vars).map(
      ([name, value]) => `(name = ${quote(name)}, text = ${quote(value)})`,
    ),
    ...['RATE_LIMITER', 'NETWORK_RATE_LIMITER'].map(
      (name) => `(name = "${name}", wrapped = (moduleName = "bench-internal:rate-limiter"))`,
    ),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    ${disk ? `(name = "objects", disk = (path = ${quote(disk)}, writable = true)),` : ''}
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
  extensions = [(modules = [(name = "bench-internal:rate-limiter", internal = true, esModule = ${quote(rateLimiter)})])],
);

const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = ${quote(date)},
  compatibilityFlags = [${flags.map(quote).join(', ')}],
  bindings = [${bindings.join(',\n    ')}],
  durableObjectNamespaces = [(className = "LiveUser", uniqueKey = "bench-LiveUser", enableSql = true)],
  durableObjectStorage = ${disk ? '(localDisk = "objects")' : '(inMemory = void)'},
);
`;
}
