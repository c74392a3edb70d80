import { Caller, usageRequest, type Request } from '../load/request.ts';
import { inRounds, compare, median, p95, ratioText, type Part } from '../report.ts';
import { cpuMs, type Running } from '../rig/workerd.ts';
import { withRig } from '../rig/rig.ts';
import { calls } from './calls.ts';

const levels = [1, 2, 4, 8, 16];
const users = 6000;
const everybody = Array.from({ length: users }, (_, user) => user);

type Flood = { connections: number; ms: number; request: (call: number) => Promise<Request>; most?: number };

/** What one level of load gave; `cpu` is what the Worker and the database used, in ms. */
type Lap = { times: number[]; took: number; cpu: number[] };

const perSecond = ({ times, took }: Lap) => (times.length * 1000) / took;

/** How many calls a second two lanes answered, in the rounds that they shared. */
function rates(ours: Lap[], theirs: Lap[]): (string | number)[] {
  const [mine, other] = [ours, theirs].map((laps) => laps.map(perSecond)) as [number[], number[]];
  const wrap = (values: number[]) => values.map((value) => [value]);
  return [median(mine), median(other), ratioText(compare(wrap(mine), wrap(other)))];
}

/** Each hot call over more and more connections, as fast as it is answered, beside the bare Worker. */
export function measureLoad(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(users);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const part: Part = { title: 'Load to the limit, on the machine that also calls', header, rows: [], targets: [] };
    for (const { name, request, prepare } of calls) {
      for (const connections of levels) {
        const lap = (running: Running) => async () => {
          await prepare?.(database.client, everybody);
          return flood(running, database.pid, { connections, ms: quick ? 500 : 1500, request, most: users });
        };
        const laps = await inRounds(quick ? 2 : 4, { ours: lap(solace), theirs: lap(bare) });
        const times = laps.ours.flatMap((each) => each.times);
        const shareOf = (process: number) =>
          `${Math.round(100 * median(laps.ours.map(({ cpu, took }) => cpu[process]! / took)))} %`;
        const figures = [...rates(laps.ours, laps.theirs), median(times), p95(times), shareOf(0), shareOf(1)];
        part.rows.push([name, String(connections), ...figures]);
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

/** Calls over all connections for so many ms, at most so many. */
async function flood(
  { url, pid }: Running,
  databasePid: number,
  { connections, ms, request, most = Infinity }: Flood,
): Promise<Lap> {
  const caller = new Caller(url, connections);
  const times: number[] = [];
  let next = 0;
  const before = [pid, databasePid].map(cpuMs);
  const begun = performance.now();
  const run = async () => {
    while (performance.now() - begun < ms && next < most) {
      const call = await request(next++);
      const sent = performance.now();
      await caller.call(call);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  const took = performance.now() - begun;
  const cpu = [pid, databasePid].map((process, index) => cpuMs(process) - before[index]!);
  await caller.close();
  return { times, took, cpu };
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
      const request = async (call: number) => usageRequest(call % among);
      const lap = (running: Running) => () =>
        flood(running, database.pid, { connections, ms: quick ? 1000 : 3000, request });
      const ways = { ours: lap(solace), theirs: lap(bare) };
      await inRounds(1, ways);
      const { ours, theirs } = await inRounds(quick ? 3 : 8, ways);
      const posts = ours.flatMap(({ times }) => times).length;
      const cpuOf = (process: number) => ours.reduce((sum, { cpu }) => sum + cpu[process]!, 0) / posts;
      part.rows.push([title, ...rates(ours, theirs), cpuOf(0), cpuOf(1)]);
    }
    return part;
  });
}
