import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Part } from '../report.ts';
import { personAt } from '../rig/person.ts';
import { cpuMs, openFiles, residentKb } from '../rig/process-facts.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { solaceUrl, streamsEach, streamsOf, users } from '../load/streams.ts';

const crowd = fileURLToPath(new URL('../load/crowd-process.ts', import.meta.url));
const heartbeatMs = 20_000;

type SocketCount = { files: number; sockets: number; kb: number };

/** What remains in the Worker and its Durable Objects after a thousand readers have disappeared without closing. */
export function measureAbandonedStreams(): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(1000);
    const worker = await rig.solace({ name: 'socket-count' });
    await fetch(`${worker.url}/api/health`);
    const streams = await streamsOf(worker, { firstUser: 0, users, urlOf: solaceUrl });
    const before = await socketCount(worker);
    const child = fork(crowd, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send(streams);
    await once(child, 'message');
    const open = await socketCount(worker);
    const cpuOpen = await cpuOf(worker, heartbeatMs);
    child.kill('SIGKILL');
    const goneAfter = await untilGone(worker, before);
    const after = await socketCount(worker);
    const cpuAfter = await cpuOf(worker, heartbeatMs);
    return describe({ before, open, after, cpuOpen, cpuAfter, goneAfter });
  });
}

type Facts = {
  before: SocketCount;
  open: SocketCount;
  after: SocketCount;
  cpuOpen: number;
  cpuAfter: number;
  goneAfter: number;
};

function describe({ before, open, after, cpuOpen, cpuAfter, goneAfter }: Facts): Part {
  const count = users * streamsEach;
  const row = (title: string, { files, sockets, kb }: SocketCount, cpu: number | string) =>
    [title, String(files), String(sockets), kb / 1024, cpu] as (string | number)[];
  return {
    title: `${count} open streams whose readers are killed`,
    header: ['when', 'open files of the process', 'sockets in the objects', 'memory MB', 'CPU ms per heartbeat'],
    rows: [row('before', before, ''), row('open', open, cpuOpen), row('after', after, cpuAfter)],
    targets: [
      { what: 'all is gone', value: goneAfter / 1000, atMost: (heartbeatMs + 1500) / 1000, unit: ' s' },
      { what: 'sockets left in the objects', value: after.sockets, atMost: 0, unit: '' },
      { what: 'files left open', value: Math.max(0, after.files - before.files), atMost: 0, unit: '' },
      {
        what: 'CPU that timers still use per heartbeat',
        value: cpuAfter,
        atMost: Math.max(20, cpuOpen / 10),
        unit: ' ms',
      },
    ],
  };
}

async function socketCount({ url, pid }: Running): Promise<SocketCount> {
  const everybody = Array.from({ length: users }, (_, index) => `user=${personAt(index).userId}`).join('&');
  const { sockets } = (await (await fetch(`${url}/socket-count?${everybody}`)).json()) as { sockets: number };
  return { files: openFiles(pid), sockets, kb: residentKb(pid) };
}

async function cpuOf({ pid }: Running, ms: number): Promise<number> {
  const before = cpuMs(pid);
  await sleep(ms);
  return cpuMs(pid) - before;
}

/** The time (ms) until the process uses no more than before; Infinity after two heartbeats. */
async function untilGone(worker: Running, before: SocketCount): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < 2 * heartbeatMs) {
    await sleep(250);
    if (openFiles(worker.pid) > before.files) continue;
    if ((await socketCount(worker)).sockets === 0) return performance.now() - begun;
  }
  return Infinity;
}
