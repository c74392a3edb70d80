import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, rmSync, writeFileSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntilReady } from '../../product/machine.ts';
import { stateDir, root } from './settings.ts';
import { promisify } from 'node:util';
import { writeBuiltConfig } from '../../product/worker-process.ts';

const processGroup = fileURLToPath(new URL('../../product/process-group.ts', import.meta.url));
// The package's own export names the program; its bin/workerd is a Node script, whose process would be measured
// instead.
const workerd: string = createRequire(import.meta.url)('workerd').default;

export type Running = { url: string; pid: number; stop: () => Promise<void> };

/** Starts a program with its order, in a process that ends with this one; resolves when it says that it is ready. */
export async function startProgram(program: string, order: object, url: string): Promise<Running> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.send(order);
  const exit = once(child, 'exit');
  const ended = exit.then(() => {
    throw new Error(`${program} ended`);
  });
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  return { url, pid: child.pid!, stop: stopping(child, exit) };
}

function stopping(child: ChildProcess, exit: Promise<unknown>): Running['stop'] {
  return async () => {
    if (child.connected) child.disconnect();
    await exit;
  };
}

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
  const stop = stopping(child, exit);
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

/** The class of Durable Objects, and the binding that reaches them. */
type DurableObjects = { className: string; binding: string };

export type WorkerdSettings = {
  bundle: Bundle;
  port: number;
  /** The classes of the Durable Objects, and the bindings that reach them. */
  objects: DurableObjects[];
  /** A folder for what the objects store; left out, they keep it in memory. */
  disk?: string;
  vars: Record<string, string>;
};

const quote = (text: string) => JSON.stringify(text);

/** The bindings of wrangler.toml with their limits. */
const limiters = [
  ['RATE_LIMITER', 600],
  ['NETWORK_RATE_LIMITER', 3000],
] as const;

/** A rate limiter that counts by key and minute in the isolate's memory, as Cloudflare counts per location. */
const rateLimiter = `
export default ({ limit }) => {
  let minute = 0;
  let counts = new Map();
  return {
    async limit({ key }) {
      const now = Math.floor(Date.now() / 60000);
      if (now !== minute) [minute, counts] = [now, new Map()];
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limit };
    },
  };
};`;

/**
 * The configuration of a plain workerd that serves a bundle on this machine alone. Objects store in memory unless a
 * folder is given: a file for each object would add this disk's cost to the product's.
 */
function workerdConfig({ bundle, port, objects, vars, disk }: WorkerdSettings): string {
  const texts = Object.entries(vars).map(([name, value]) => `(name = ${quote(name)}, text = ${quote(value)})`);
  const bindings = [
    ...texts,
    ...objects.map(
      ({ binding, className }) => `(name = ${quote(binding)}, durableObjectNamespace = ${quote(className)})`,
    ),
    ...limiters.map(
      ([name, limit]) => `(name = "${name}", wrapped = (moduleName = "bench-internal:rate-limiter",
      innerBindings = [(name = "limit", json = "${limit}")]))`,
    ),
  ];
  const namespaces = objects.map(
    ({ className }) =>
      `(className = ${quote(className)}, uniqueKey = ${quote(`bench-${className}`)}, enableSql = true)`,
  );
  const storage = disk ? `(localDisk = "objects")` : '(inMemory = void)';
  const disks = disk ? `(name = "objects", disk = (path = ${quote(disk)}, writable = true)),` : '';
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    ${disks}
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
  extensions = [(modules = [(name = "bench-internal:rate-limiter", internal = true, esModule = ${quote(rateLimiter)})])],
);

const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = ${quote(bundle.compatibilityDate)},
  compatibilityFlags = [${bundle.compatibilityFlags.map(quote).join(', ')}],
  bindings = [${bindings.join(',\n    ')}],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = ${storage},
);
`;
}

/** A Worker in the form that `wrangler deploy` uploads. */
export type Bundle = { file: string; compatibilityDate: string; compatibilityFlags: string[] };

const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Bundles the product, or one of `workers/` by its name, under the product's compatibility date and flags. */
export async function bundle(name: string): Promise<Bundle> {
  const directory = join(stateDir, 'workers', name);
  const { compatibility_date: date, compatibility_flags: flags = [] } = await productConfig();
  const config =
    name === 'solace' ? await writeBuiltConfig(root, directory) : writeConfig(name, directory, date, flags);
  const args = ['deploy', '--dry-run', '--minify', '--env=', `--outdir=${directory}`, `--config=${config}`];
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', FORCE_COLOR: '0' };
  await promisify(execFile)(process.execPath, [wrangler, ...args], { cwd: root, env, timeout: 120_000 });
  const file = join(directory, name === 'solace' ? 'index.js' : `${name}.js`);
  return { file, compatibilityDate: date, compatibilityFlags: flags };
}

async function productConfig(): Promise<{ compatibility_date: string; compatibility_flags?: string[] }> {
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  return readRawConfig({ config: join(root, 'wrangler.toml') }).rawConfig as { compatibility_date: string };
}

function writeConfig(name: string, directory: string, date: string, flags: string[]): string {
  const file = join(directory, 'wrangler.json');
  const main = join(root, `tests/bench/workers/${name}.ts`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, JSON.stringify({ name, main, compatibility_date: date, compatibility_flags: flags }));
  return file;
}

const ticksPerSecond = 100;

/** The single child process of a process group. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

/** The resident memory of a process, in KB. */
export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** The highest resident memory of a process since `resetPeak`, in KB. */
export function peakKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** Sets the peak of a process to its present memory (proc(5), `clear_refs`). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** CPU that a process has used so far in all its threads, in ms. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** The open files and sockets of a process. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Starts measuring; the returned function gives the share (0 to 1) of CPU time that the host has stolen since. */
export function measureStealTime(): () => number {
  const before = ticks();
  return () => {
    const spent = ticks().map((count, index) => count - before[index]!);
    const all = spent.reduce((sum, count) => sum + count, 0);
    return all === 0 ? 0 : spent.at(-1)! / all;
  };
}

/** User, nice, system, idle, iowait, irq, softirq and steal, of all processors, in ticks since the start. */
function ticks(): number[] {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/);
  return fields.slice(0, 8).map(Number);
}

/** Adds up the CPU that processes use while measured work runs. */
export class Cost {
  readonly #pids: number[];
  #used: number[] = [];
  #calls = 0;

  constructor(...pids: number[]) {
    this.#pids = pids;
    this.reset();
  }

  reset(): void {
    this.#used = this.#pids.map(() => 0);
    this.#calls = 0;
  }

  /** Runs work that makes so many calls. */
  async of<T>(calls: number, work: () => Promise<T>): Promise<T> {
    const before = this.#pids.map(cpuMs);
    const result = await work();
    this.#calls += calls;
    this.#used = this.#pids.map((pid, index) => this.#used[index]! + cpuMs(pid) - before[index]!);
    return result;
  }

  /** CPU per call of each process, in ms. */
  perCall(): number[] {
    return this.#used.map((used) => used / this.#calls);
  }
}
