import { Caller, usageRequest, type Request } from '../load/request.ts';
import {
  paced,
  type Audience,
  type Delivered,
  bareUrl,
  openWeighed,
  solaceUrl,
  streamsEach,
  streamsOf,
  users,
  type UrlOf,
} from '../load/crowd.ts';
import { inRounds, compare, median, p95, quantile, ratioText, type Part } from '../report.ts';
import { usedBefore, personAt } from '../rig/database.ts';
import { withRig } from '../rig/rig.ts';
import { type Running, cpuMs, openFiles, residentKb, startProgram } from '../rig/workerd.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

type Lane = Audience & { kbPerStream: number };

/** From a usage post to the open streams, beside a bare Durable Object that holds and writes the streams itself. */
export function measureDelivery(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(1000);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const lanes = {
      solace: await openLane(solace, 0, solaceUrl, (user) => usageRequest(user)),
      counting: await openLane(bare, 100, bareUrl, (user) => usageRequest(user, `/streams/${user}/count`)),
      plain: await openLane(bare, 200, bareUrl, plainPost),
    };
    const lap = (lane: Lane) => () => paced(lane, quick ? 2 : 5);
    const ways = { solace: lap(lanes.solace), counting: lap(lanes.counting), plain: lap(lanes.plain) };
    await inRounds(2, ways);
    const laps = await inRounds(quick ? 3 : 10, ways);
    for (const { caller, crowd } of Object.values(lanes)) {
      crowd.close();
      await caller.close();
    }
    return describe(laps, lanes);
  });
}

function describe(laps: Record<'solace' | 'counting' | 'plain', Delivered[]>, lanes: Record<string, Lane>): Part {
  const times = (name: keyof typeof laps) => laps[name].map(({ latencies }) => latencies);
  const slowest = (values: number[]) => quantile(values, 0.99);
  const row = (title: string, name: keyof typeof laps) => {
    const against = (value: (values: number[]) => number) =>
      name === 'solace' ? '1' : ratioText(compare(times('solace'), times(name), value));
    const lost = laps[name].reduce((sum, { lost }) => sum + lost, 0);
    const all = times(name).flat();
    return [
      title,
      median(all),
      against(median),
      p95(all),
      against(p95),
      slowest(all),
      against(slowest),
      String(lost),
      lanes[name]!.kbPerStream,
    ];
  };
  const ratioOf = (value: (values: number[]) => number) => compare(times('solace'), times('counting'), value).ratio;
  const lost = laps.solace.reduce((sum, lap) => sum + lap.lost, 0);
  return {
    title: `Delivery to ${users} users with ${streamsEach} open streams each`,
    header: [
      'lane',
      'p50 ms',
      'Solace to it',
      'p95 ms',
      'Solace to it',
      'p99 ms',
      'Solace to it',
      'lost',
      'KB per stream',
    ],
    rows: [
      row('Solace', 'solace'),
      row('bare object, counting in the database', 'counting'),
      row('bare object, counting nothing', 'plain'),
    ],
    targets: [
      { what: 'p50 beside the bare object that counts as well', value: ratioOf(median), atMost: 1.4, unit: '' },
      { what: 'p95 beside the bare object that counts as well', value: ratioOf(p95), atMost: 1.5, unit: '' },
      { what: 'messages lost', value: lost, atMost: 0, unit: '' },
      { what: 'memory of an open stream', value: lanes.solace!.kbPerStream, atMost: 160, unit: ' KB' },
    ],
  };
}

function plainPost(user: number, used: number): Request {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path: `/streams/${user}/publish`, headers, body: JSON.stringify({ used }) };
}

async function openLane(running: Running, firstUser: number, urlOf: UrlOf, post: Audience['post']): Promise<Lane> {
  const streams = await streamsOf(running, { firstUser, users, urlOf });
  const counts = Array.from({ length: users }, () => usedBefore);
  const caller = new Caller(running.url, 8);
  return { caller, firstUser, counts, streamsEach, post, ...(await openWeighed(running, streams)) };
}

const patienceMs = 30_000;
/** With ten streams each. A stream takes two file handles of workerd, and many systems allow a process 20,000. */
const mostUsers = 980;

/** Almost ten thousand streams in one process: what each holds, and how long a message to everybody takes. */
export function measureCrowd(quick: boolean): Promise<Part> {
  const users = quick ? 200 : mostUsers;
  return withRig(async (rig) => {
    await rig.database(users);
    const solace = await rig.solace();
    const streams = await streamsOf(solace, { firstUser: 0, users, urlOf: solaceUrl });
    const { crowd, kbPerStream } = await openWeighed(solace, streams);
    const caller = new Caller(solace.url, 8);
    const begun = performance.now();
    const posts = Array.from({ length: users }, async (_, user) => {
      const request = usageRequest(user);
      await sleep(0);
      crowd.posted(user, usedBefore + 1);
      await caller.call(request);
    });
    await Promise.all(posts);
    while (crowd.latencies.length < streams.length && performance.now() - begun < patienceMs) await sleep(10);
    const took = performance.now() - begun;
    const lost = streams.length - crowd.latencies.length;
    crowd.close();
    await caller.close();
    return {
      title: `A message to each of ${users} users with ${streamsEach} open streams each, all at once`,
      header: ['streams', 'KB per stream', 'all delivered after ms', 'p50 ms', 'p95 ms', 'lost'],
      rows: [[streams.length, kbPerStream, took, median(crowd.latencies), p95(crowd.latencies), String(lost)]],
      targets: [
        { what: 'messages lost', value: lost, atMost: 0, unit: '' },
        { what: 'memory of an open stream', value: kbPerStream, atMost: 160, unit: ' KB' },
      ],
    };
  });
}

const crowd = fileURLToPath(new URL('../load/crowd.ts', import.meta.url));
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
    const readers = await startProgram(crowd, streams, '');
    const open = await socketCount(worker);
    const cpuOpen = await cpuOf(worker, heartbeatMs);
    process.kill(readers.pid, 'SIGKILL');
    const goneAfter = await untilGone(worker, before);
    const after = await socketCount(worker);
    const cpuAfter = await cpuOf(worker, heartbeatMs);
    return describeAbandoned({ before, open, after, cpuOpen, cpuAfter, goneAfter });
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

function describeAbandoned({ before, open, after, cpuOpen, cpuAfter, goneAfter }: Facts): Part {
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
