import { setTimeout as sleep } from 'node:timers/promises';
import { addDelivery, openAudience, solaceUrl, streamsEach, streamsOf } from '../load/crowd.ts';
import { usageRequest } from '../load/request.ts';
import { median, p95, type Part, partBeside } from '../report.ts';
import { usedBefore as from, personAt } from '../rig/database.ts';
import { measureCpu, memoryKb, openFiles } from '../rig/processes.ts';
import { withRig } from '../rig/rig.ts';
import { type Running, startProgram } from '../rig/workerd.ts';

const users = 100;
const streamMemory = { what: 'memory of an open stream', atMost: 160, unit: ' KB' };

/** From a usage post to the open streams, beside a bare Durable Object that holds and writes the streams itself. */
export function measureDelivery(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(1000);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const post = (user: number) => usageRequest(user);
    const countingPost = (user: number) => usageRequest(user, `/streams/${user}/count`);
    const ours = await openAudience(rig, solace, { users, from, urlOf: (user) => solaceUrl(solace, user), post });
    const group = {
      users,
      firstUser: users,
      from,
      urlOf: (user: number) => `${bare.url}/streams/${user}`,
      post: countingPost,
    };
    const theirs = await openAudience(rig, bare, group);
    const part = partBeside(`Delivery to ${users} users with ${streamsEach} open streams each`);
    const delivery = { rounds: quick ? 3 : 10, warmUp: 2, seconds: quick ? 2 : 5, atMost: { p50: 1.4, p95: 1.5 } };
    await addDelivery(part, 'a usage post until a stream shows it', [ours, theirs], delivery);
    part.targets.push({ ...streamMemory, value: ours.kbPerStream });
    return part;
  });
}

/** With ten streams each. A stream takes two file handles of workerd, and many systems allow a process 20,000. */
const mostUsers = 980;

export function measureCrowd(quick: boolean): Promise<Part> {
  const users = quick ? 200 : mostUsers;
  return withRig(async (rig) => {
    await rig.database(users);
    const solace = await rig.solace();
    const urlOf = (user: number) => solaceUrl(solace, user);
    const audience = await openAudience(rig, solace, { users, urlOf, from, post: (user) => usageRequest(user) });
    const { crowd, streams, kbPerStream, postNext } = audience;
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: users }, async (_, user) => {
        await sleep(0);
        await postNext(user);
      }),
    );
    await crowd.until(streams.length, 30_000);
    const took = performance.now() - begun;
    const lost = streams.length - crowd.latencies.length;
    crowd.close();
    return {
      title: `A message to each of ${users} users with ${streamsEach} open streams each, all at once`,
      header: ['streams', 'KB per stream', 'all delivered after ms', 'p50 ms', 'p95 ms', 'lost'],
      rows: [[streams.length, kbPerStream, took, median(crowd.latencies), p95(crowd.latencies), lost]],
      targets: [
        { what: 'messages lost', value: lost, atMost: 0 },
        { ...streamMemory, value: kbPerStream },
      ],
    };
  });
}

const heartbeatMs = 20_000;

/** What remains in the Worker and its Durable Objects after a thousand readers have disappeared without closing. */
export function measureAbandonedStreams(): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(1000);
    const worker = await rig.solace({}, 'tests/bench/workers/socket-count');
    const streams = await streamsOf({ users, urlOf: (user) => solaceUrl(worker, user) });
    const before = await held(worker);
    const readers = await startProgram('load/crowd.ts', streams);
    const open = await held(worker);
    const cpuOpen = await cpuOfHeartbeat(worker);
    process.kill(readers.pid, 'SIGKILL');
    const goneAfter = await untilGone(worker, before.files);
    const after = await held(worker);
    const cpuAfter = await cpuOfHeartbeat(worker);
    const row = (title: string, { files, sockets, kb }: typeof before, cpu: number | string) => {
      return [title, files, sockets, kb / 1024, cpu];
    };
    const filesLeft = Math.max(0, after.files - before.files);
    const mostCpu = Math.max(20, cpuOpen / 10);
    return {
      title: `${streams.length} open streams whose readers are killed`,
      header: ['when', 'open files of the process', 'sockets in the objects', 'memory MB', 'CPU ms per heartbeat'],
      rows: [row('before', before, ''), row('open', open, cpuOpen), row('after', after, cpuAfter)],
      targets: [
        { what: 'all is gone', value: goneAfter / 1000, atMost: (heartbeatMs + 1500) / 1000, unit: ' s' },
        { what: 'sockets left in the objects', value: after.sockets, atMost: 0 },
        { what: 'files left open', value: filesLeft, atMost: 0 },
        { what: 'CPU that timers still use per heartbeat', value: cpuAfter, atMost: mostCpu, unit: ' ms' },
      ],
    };
  });
}

async function held({ url, pid }: Running): Promise<{ files: number; sockets: number; kb: number }> {
  const everybody = Array.from({ length: users }, (_, index) => `user=${personAt(index).id}`).join('&');
  const { sockets } = (await (await fetch(`${url}/socket-count?${everybody}`)).json()) as { sockets: number };
  return { files: openFiles(pid), sockets, kb: memoryKb(pid) };
}

async function cpuOfHeartbeat({ pid }: Running): Promise<number> {
  const used = measureCpu(pid);
  await sleep(heartbeatMs);
  return used()[0]!;
}

/** The time (ms) until the process uses no more files than before; Infinity after two heartbeats. */
async function untilGone(worker: Running, files: number): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < 2 * heartbeatMs) {
    await sleep(250);
    if (openFiles(worker.pid) <= files && (await held(worker)).sockets === 0) return performance.now() - begun;
  }
  return Infinity;
}
