import { setTimeout as sleep } from 'node:timers/promises';
import { addDelivery, openAudience, solaceUrl, streamsEach, streamsOf } from '../load/crowd.ts';
import { usageRequest } from '../load/request.ts';
import { type Part, partBeside, openFiles } from '../measurement.ts';
import { usedBefore as from, personAt } from '../rig/database.ts';
import type { Rig } from '../rig/rig.ts';
import { type Running, startProgram } from '../rig/workerd.ts';

const users = 100;
const streamMemory = {
  what: 'memory of an open stream',
  atMost: 160,
  unit: ' KB',
};

/** From a usage post to the open streams, beside a bare Durable Object that holds and writes the streams itself. */
export async function measureDelivery(rig: Rig, quick: boolean): Promise<Part> {
  await rig.database(1000);
  const [solace, bare] = [await rig.solace(), await rig.bare()];
  const post = (user: number) => usageRequest(user);
  const countingPost = (user: number) => usageRequest(user, `/streams/${user}/count`);
  const ours = await openAudience(rig, solace, {
    users,
    from,
    urlOf: (user) => solaceUrl(solace, user),
    post,
  });
  const bareUrl = (user: number) => `${bare.url}/streams/${user}`;
  const theirs = await openAudience(rig, bare, {
    users,
    firstUser: users,
    from,
    urlOf: bareUrl,
    post: countingPost,
  });
  const part = partBeside(`Delivery to ${users} users with ${streamsEach} open streams each`);
  const delivery = {
    rounds: quick ? 3 : 10,
    warmUp: 2,
    seconds: quick ? 2 : 5,
    atMost: { p50: 1.4, p95: 1.5 },
  };
  await addDelivery(part, 'a usage post until a stream shows it', [ours, theirs], delivery);
  part.targets.push({ ...streamMemory, value: ours.kbPerStream });
  return part;
}

/** With ten streams each. A stream takes two file handles of workerd, and many systems allow a process 20,000. */
const mostUsers = 980;

export async function measureCrowd(rig: Rig, quick: boolean): Promise<Part> {
  const users = quick ? 200 : mostUsers;
  await rig.database(users);
  const solace = await rig.solace();
  const urlOf = (user: number) => solaceUrl(solace, user);
  const audience = await openAudience(rig, solace, {
    users,
    urlOf,
    from,
    post: (user) => usageRequest(user),
  });
  const { crowd, streams, kbPerStream, postNext } = audience;
  const begun = performance.now();
  await Promise.all(Array.from({ length: users }, (_, user) => postNext(user)));
  await crowd.until(streams.length, 30_000);
  const took = performance.now() - begun;
  const lost = streams.length - crowd.latencies.length;
  crowd.close();
  return {
    title: `A message to each of ${users} users with ${streamsEach} open streams each, all at once`,
    header: ['streams', 'KB per stream', 'all delivered after ms', 'lost'],
    rows: [[streams.length, kbPerStream, took, lost]],
    targets: [
      { what: 'messages lost', value: lost, atMost: 0 },
      { ...streamMemory, value: kbPerStream },
    ],
  };
}

const heartbeatMs = 20_000;

/** Until nothing of a thousand streams is left in the Worker and its Durable Objects after their readers were killed. */
export async function measureAbandonedStreams(rig: Rig): Promise<Part> {
  await rig.database(1000);
  const worker = await rig.solace({}, 'tests/bench/workers/instrumented');
  const streams = await streamsOf({
    users,
    urlOf: (user) => solaceUrl(worker, user),
  });
  const files = openFiles(worker.pid);
  const readers = await startProgram('load/crowd.ts', streams);
  const [opened, sockets] = [openFiles(worker.pid) - files, await socketsOf(worker)];
  process.kill(readers.pid, 'SIGKILL');
  const seconds = (await untilGone(worker, files)) / 1000;
  return {
    title: `${streams.length} open streams whose readers are killed`,
    header: ['open files of the process', 'sockets in the objects', 'all closed after s'],
    rows: [[opened, sockets, seconds]],
    targets: [
      {
        what: 'all is closed',
        value: seconds,
        atMost: (heartbeatMs + 1500) / 1000,
        unit: ' s',
      },
    ],
  };
}

async function socketsOf({ url }: Running): Promise<number> {
  const everybody = Array.from({ length: users }, (_, index) => `user=${personAt(index).id}`).join(
    '&',
  );
  const response = await fetch(`${url}/socket-count?${everybody}`);
  return ((await response.json()) as { sockets: number }).sockets;
}

/** The time (ms) until no socket is open and the process uses no more files than before; Infinity after two heartbeats. */
async function untilGone(worker: Running, files: number): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < 2 * heartbeatMs) {
    await sleep(250);
    if (openFiles(worker.pid) <= files && (await socketsOf(worker)) === 0)
      return performance.now() - begun;
  }
  return Infinity;
}
