import { type Caller, usageRequest, type Request } from '../load/request.ts';
import { inRounds, compare, median, p95, type Part, sum } from '../report.ts';
import { measureCpu } from '../rig/processes.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { calls } from './calls.ts';

const levels = [1, 2, 4, 8, 16];
const users = 6000;
const everybody = Array.from({ length: users }, (_, user) => user);

/** What one level of load gave; `cpu` is what the Worker and the database used, in ms. */
type Lap = { times: number[]; took: number; cpu: number[] };

const perSecond = ({ times, took }: Lap) => (times.length * 1000) / took;

/** How many calls a second two lanes answered, in the rounds that they shared. */
function rates(ours: Lap[], theirs: Lap[]): (string | number)[] {
  const [mine, other] = [ours.map(perSecond), theirs.map(perSecond)];
  return [median(mine), median(other), compare(mine, other).text];
}

/** Each hot call over more and more connections, as fast as it is answered, beside the bare Worker. */
export function measureLoad(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(users);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const part: Part = { title: 'Load to the limit, on the machine that also calls', header, rows: [], targets: [] };
    const cases = calls.flatMap((call) => levels.map((connections) => ({ ...call, connections })));
    for (const { name, request, prepare, connections } of cases) {
      const limits = { connections, ms: quick ? 500 : 1500, most: users };
      const lap = (running: Running) => {
        const lane = { caller: rig.caller(running, connections), pids: [running.pid, database.pid] };
        return async () => {
          await prepare?.(database.client, everybody);
          return flood(lane, limits, request);
        };
      };
      const { ours, theirs } = await inRounds({ rounds: quick ? 2 : 4 }, { ours: lap(solace), theirs: lap(bare) });
      const times = ours.flatMap((each) => each.times);
      const shares = [0, 1].map((process) => median(ours.map(({ cpu, took }) => cpu[process]! / took)));
      const percent = shares.map((share) => `${Math.round(100 * share)} %`);
      part.rows.push([name, connections, ...rates(ours, theirs), median(times), p95(times), ...percent]);
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

type Limits = { connections: number; ms: number; most?: number };

/** Calls over all connections for so many ms, at most so many. */
async function flood(
  { caller, pids }: { caller: Caller; pids: number[] },
  { connections, ms, most = Infinity }: Limits,
  request: (call: number) => Promise<Request>,
): Promise<Lap> {
  const times: number[] = [];
  let next = 0;
  const used = measureCpu(...pids);
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
  return { times, took: performance.now() - begun, cpu: used() };
}

const crowds = { 'one user': 1, '1,000 users in turn': 1000 };

/** Usage posts per second, as fast as the responses arrive, beside the bare Worker's. */
export function measurePosts(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(1000);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const limits = { connections: 16, ms: quick ? 1000 : 3000 };
    const header = ['posts for', 'per second', 'bare per second', 'Solace to bare', 'CPU ms Worker', 'CPU ms database'];
    const part: Part = { title: 'Usage posts over 16 connections', header, rows: [], targets: [] };
    for (const [title, among] of Object.entries(crowds)) {
      const lap = (running: Running) => {
        const lane = { caller: rig.caller(running, limits.connections), pids: [running.pid, database.pid] };
        return () => flood(lane, limits, async (call) => usageRequest(call % among));
      };
      const lanes = { ours: lap(solace), theirs: lap(bare) };
      const { ours, theirs } = await inRounds({ rounds: quick ? 3 : 8, warmUp: 1 }, lanes);
      const posts = sum(ours.map(({ times }) => times.length));
      const cpuPerPost = [0, 1].map((process) => sum(ours.map(({ cpu }) => cpu[process]!)) / posts);
      part.rows.push([title, ...rates(ours, theirs), ...cpuPerPost]);
    }
    return part;
  });
}
