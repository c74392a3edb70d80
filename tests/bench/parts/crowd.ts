import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../load/caller.ts';
import { usageRequest } from '../load/request.ts';
import { quantile } from '../load/statistics.ts';
import { openWeighed, solaceUrl, streamsEach, streamsOf } from '../load/streams.ts';
import type { Part } from '../report.ts';
import { usedBefore } from '../rig/person.ts';
import { withRig } from '../rig/rig.ts';

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
      rows: [
        [
          streams.length,
          kbPerStream,
          took,
          quantile(crowd.latencies, 0.5),
          quantile(crowd.latencies, 0.95),
          String(lost),
        ],
      ],
      targets: [
        { what: 'messages lost', value: lost, atMost: 0, unit: '' },
        { what: 'memory of an open stream', value: kbPerStream, atMost: 160, unit: ' KB' },
      ],
    };
  });
}
