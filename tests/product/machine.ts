import { failureText } from '../../worker/operations/failure-text.ts';
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../sandbox/stripe/listen.ts';

const readyWithinMs = 10 * 60_000;
const leastDiskMiB = 500;

/** Below the ports that systems give to connections, so that none takes a port between its choice and its use. */
const [firstPort, lastPort] = [12_000, 32_000];

/** The port itself if it is free; 0 finds a free one. Rejects with a message that names the setting. */
export async function freePort(port: number, setting: string): Promise<number> {
  if (port === 0)
    return freePort(randomInt(firstPort, lastPort), setting).catch(() => freePort(0, setting));
  const found = await listen(port).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EADDRINUSE'
        ? 'is taken by another program'
        : `cannot be opened (${error.code})`;
    throw new Error(
      `Port ${port} ${why}. Choose another one with ${setting}, for example ${setting}=${port + 10}.`,
    );
  });
  await found.close();
  return found.port;
}

/** Throws with what to do if the disk of a folder has less space than the build, its caches and the local services need. */
export function requireDiskSpace(folder: string, leastMiB = leastDiskMiB): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = Math.floor((bavail * bsize) / 2 ** 20);
  if (free < leastMiB)
    throw new Error(
      `The disk has ${free} MiB left, and Solace needs ${leastMiB} MiB: remove what you do not need, for example .wrangler and dist, and run this again.`,
    );
}

/** What runs a program where there is no network but this machine's own; null where that is not allowed. */
export function withoutNetwork(): string[] | null {
  const inside = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const ways = [['--net'], ['--net', '--map-root-user']];
  const works = ([...flags]: string[]) => {
    try {
      execFileSync('unshare', [...flags, ...inside, 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  const flags = ways.find(works);
  return flags ? ['unshare', ...flags, ...inside] : null;
}

/** The JSON of a call, whose body is JSON too; throws for a status other than 2xx. */
export async function callJson<Result>(
  method: string,
  url: string,
  body?: object,
  token?: string,
): Promise<Result> {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(`${method} ${url} responded ${response.status}: ${await response.text()}`);
  return response.json() as Promise<Result>;
}

export function messageOf(error: unknown): string {
  return failureText(error);
}

/** Resolves when every address responds 200; rejects when `ended` says why it never will, or after ten minutes. */
export async function waitUntilReady(urls: string[], ended: Promise<string>): Promise<void> {
  let reason: string | undefined;
  void ended.then((why) => (reason = why));
  const deadline = Date.now() + readyWithinMs;
  for (const url of urls) {
    const status = () => Promise.race([statusOf(url), ended]);
    for (let last = await status(); last !== '200'; last = await status()) {
      if (reason !== undefined) throw new Error(reason);
      if (Date.now() > deadline)
        throw new Error(
          `Waited ${readyWithinMs / 60_000} minutes for 200 from ${url}; the last response was ${last}.`,
        );
      await sleep(100);
    }
  }
}

async function statusOf(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const { cause = error } = error as Error;
    return cause instanceof Error ? cause.message : 'none';
  }
}

/** Aborted by a signal, or when npm, which has started this script, has ended without one. */
export function stopSignal(script: string): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (process.env.npm_lifecycle_event === script) onOrphaned(stop);
  return controller.signal;
}

/** Calls back when the parent or grandparent process has ended, since npm starts programs through a shell. */
function onOrphaned(callback: () => void): void {
  const ancestors = () => `${process.ppid} ${parentOf(process.ppid)}`;
  const atStart = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === atStart) return;
    clearInterval(timer);
    callback();
  }, 500);
  timer.unref();
}

/** Undefined if the system does not provide it. */
function parentOf(pid: number): number | undefined {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1);
    return Number(afterName?.split(' ')[1]);
  } catch {
    return undefined;
  }
}
