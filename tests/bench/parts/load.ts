import type { Client } from '@libsql/client/web';
import { Caller, codeRow, meRequest, usageRequest, verifyRequest, type Request } from '../load/request.ts';
import { inRounds, compare, median, quantile, ratioText, type Part } from '../report.ts';
import { cpuMs, Cost, type Running } from '../rig/workerd.ts';
import { withRig } from '../rig/rig.ts';

const levels = [1, 2, 4, 8, 16];
const users = 6000;

type HotCall = { name: string; request: (user: number) => Promise<Request>; prepare?: (database: Client) => unknown };

const hot: HotCall[] = [
  { name: 'me', request: meRequest },
  { name: 'bot/usage', request: async (user) => usageRequest(user) },
  {
    name: 'verify-otp',
    request: async (user) => verifyRequest(user),
    prepare: (database) =>
      database.batch(
        Array.from({ length: users }, (_, user) => codeRow(user)),
        'write',
      ),
  },
];

/** What one level of load gave; the CPU of each process is in ms per ms. */
type Lap = { perSecond: number; times: number[]; workerCpu: number; databaseCpu: number };

/** Each hot call over more and more connections, as fast as it is answered, beside the bare Worker. */
export function measureLoad(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(users);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const part: Part = { title: 'Load to the limit, on the machine that also calls', header, rows: [], targets: [] };
    for (const call of hot) {
      for (const connections of levels) {
        const lap = (running: Running) => async () => {
          await call.prepare?.(database.client);
          return flood(running, database.pid, call, connections, quick ? 500 : 1500);
        };
        const laps = await inRounds(quick ? 2 : 4, { ours: lap(solace), theirs: lap(bare) });
        const rate = (list: Lap[]) => list.map(({ perSecond }) => [perSecond]);
        const times = laps.ours.flatMap((each) => each.times);
        const middle = (key: 'workerCpu' | 'databaseCpu') =>
          `${Math.round(100 * median(laps.ours.map((l) => l[key])))} %`;
        part.rows.push([
          call.name,
          String(connections),
          median(rate(laps.ours).flat()),
          median(rate(laps.theirs).flat()),
          ratioText(compare(rate(laps.ours), rate(laps.theirs))),
          median(times),
          quantile(times, 0.95),
          middle('workerCpu'),
          middle('databaseCpu'),
        ]);
      }
    }
    return part;
  });
}

const header = [
  'call',
  'connections',
  'a second',
  'bare a second',
  'Solace to bare',
  'p50 ms',
  'p95 ms',
  'a core in the Worker',
  'a core in the database',
];

/** Calls over all connections for so many ms, each user once. */
async function flood(
  { url, pid }: Running,
  databasePid: number,
  call: HotCall,
  connections: number,
  ms: number,
): Promise<Lap> {
  const caller = new Caller(url, connections);
  const times: number[] = [];
  let next = 0;
  const cpu = () => [cpuMs(pid), cpuMs(databasePid)] as const;
  const [worker, database] = cpu();
  const begun = performance.now();
  const run = async () => {
    while (performance.now() - begun < ms && next < users) {
      const request = await call.request(next++);
      const sent = performance.now();
      await caller.call(request);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  const took = performance.now() - begun;
  const [workerAfter, databaseAfter] = cpu();
  await caller.close();
  return {
    perSecond: (times.length * 1000) / took,
    times,
    workerCpu: (workerAfter - worker) / took,
    databaseCpu: (databaseAfter - database) / took,
  };
}

const connections = 16;
const crowds = [
  { title: 'one user', among: 1 },
  { title: '1,000 users in turn', among: 1000 },
];

/** Usage posts per second, as fast as the responses arrive, beside the bare Worker's. */
export function measurePosts(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(1000);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const header = ['posts for', 'per second', 'bare per second', 'Solace to bare', 'CPU ms Worker', 'CPU ms database'];
    const part: Part = { title: `Usage posts over ${connections} connections`, header, rows: [], targets: [] };
    for (const { title, among } of crowds) {
      const cost = new Cost(solace.pid, database.pid);
      const lap = (running: Running, spent: Cost) => () => floodPosts(running, among, quick ? 1000 : 3000, spent);
      const ways = { ours: lap(solace, cost), theirs: lap(bare, new Cost()) };
      await inRounds(1, ways);
      cost.reset();
      const laps = await inRounds(quick ? 3 : 8, ways);
      const [ours, theirs] = [laps.ours.flat(), laps.theirs.flat()];
      const ratio = ratioText(compare(laps.ours, laps.theirs));
      part.rows.push([title, median(ours), median(theirs), ratio, ...cost.perCall()]);
    }
    return part;
  });
}

/** Posts for so many ms over all connections; returns the number of responses a second. */
async function floodPosts(running: Running, among: number, ms: number, cost: Cost): Promise<number[]> {
  const caller = new Caller(running.url, connections);
  const begun = performance.now();
  let posts = 0;
  const post = async () => {
    while (performance.now() - begun < ms) await caller.call(usageRequest(posts++ % among));
  };
  await cost.spend(async () => {
    await Promise.all(Array.from({ length: connections }, post));
    return posts;
  });
  const perSecond = (posts * 1000) / (performance.now() - begun);
  await caller.close();
  return [perSecond];
}
