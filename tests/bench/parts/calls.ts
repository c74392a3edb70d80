import type { Client } from '@libsql/client/web';
import { type Caller, codeRow, meRequest, usageRequest, verifyRequest, type Request } from '../load/request.ts';
import { addBeside, compare, inRounds, median, type Part, partBeside, sum } from '../report.ts';
import { measureCpu } from '../rig/processes.ts';
import { withRig } from '../rig/rig.ts';
import { ports } from '../rig/settings.ts';
import type { Running } from '../rig/workerd.ts';

type Call = {
  name: string;
  request: (person: number) => Promise<Request>;
  prepare?: (database: Client, people: number[]) => Promise<unknown>;
  /** The ratio to the bare Worker, with the database on this machine and with one at a latency of some ms. */
  atMost: { near: number; far: number };
};

const putCodes = (database: Client, people: number[]) => database.batch(people.map(codeRow), 'write');

const calls: Call[] = [
  { name: 'me', request: meRequest, atMost: { near: 1.25, far: 1.1 } },
  { name: 'bot/usage', request: async (person) => usageRequest(person), atMost: { near: 1.4, far: 1.15 } },
  { name: 'verify-otp', request: verifyRequest, prepare: putCodes, atMost: { near: 1.5, far: 1.2 } },
];

const lapSize = 50;
const people = 100;

type Lane = { caller: Caller; client: Client; users: number; pids?: number[] };

/** One lap of a call for a few users, who are distributed over the whole database: times, and CPU of the processes. */
function lapOf({ request, prepare }: Call, { caller, client, users, pids = [] }: Lane) {
  let next = 0;
  return async () => {
    const chosen = Array.from({ length: lapSize }, () => (next++ % people) * Math.floor(users / people));
    await prepare?.(client, chosen);
    const requests = await Promise.all(chosen.map(request));
    const used = measureCpu(...pids);
    return { times: await caller.lap(requests), cpu: used() };
  };
}

type Lap = Awaited<ReturnType<ReturnType<typeof lapOf>>>;
const timesOf = (laps: Lap[]) => laps.map(({ times }) => times);

/** The product's calls beside a bare Worker that makes one request to the same database with the same client. */
export function measureCalls(quick: boolean, wholeRounds = 100, roundTripMs = 0): Promise<Part> {
  return withRig(async (rig) => {
    const users = 1000;
    const { client, pid: databasePid } = await rig.database(users);
    const place = roundTripMs > 0 ? { databasePort: await rig.distance(roundTripMs) } : {};
    const where = roundTripMs > 0 ? `, the database ${roundTripMs} ms away` : '';
    const cpu = ['Worker', 'database', 'bare Worker', 'its database'].map((name) => `CPU ms ${name}`);
    const part = partBeside(`Calls, one after the other${where}`, 'bare', cpu);
    const [solace, bare] = [await rig.solace(place), await rig.bare(place)];
    const [ours, theirs] = [solace, bare].map((running) => {
      return { caller: rig.caller(running), client, users, pids: [running.pid, databasePid] };
    }) as [Lane, Lane];
    const rounds = quick ? 12 : wholeRounds;
    for (const call of calls) {
      const lanes = { ours: lapOf(call, ours), theirs: lapOf(call, theirs) };
      const laps = await inRounds({ rounds, warmUp: Math.min(40, rounds) }, lanes);
      const more = [...cpuPerCall(laps.ours), ...cpuPerCall(laps.theirs)];
      const atMost = { p50: call.atMost[roundTripMs > 0 ? 'far' : 'near'] };
      addBeside(part, `${call.name}${where}`, [timesOf(laps.ours), timesOf(laps.theirs)], { atMost, more });
    }
    return part;
  });
}

const cpuPerCall = (laps: Lap[]) =>
  [0, 1].map((process) => sum(laps.map(({ cpu }) => cpu[process]!)) / (laps.length * lapSize));

/** The same calls over databases of different sizes, each with a Worker and a database process of its own. */
export function measureGrowth(quick: boolean): Promise<Part> {
  const sizes = quick ? [1000, 100_000] : [1000, 100_000, 1_000_000];
  return withRig(async (rig) => {
    const lanes: Lane[] = [];
    for (const [index, users] of sizes.entries()) {
      const databasePort = ports.growth + 2 * index;
      const { client } = await rig.database(users, databasePort);
      const solace = await rig.solace({ port: databasePort + 1, databasePort });
      lanes.push({ caller: rig.caller(solace), client, users });
    }
    const part = partBeside('The same calls as the database grows', '1,000 users');
    for (const call of calls) {
      const ways = Object.fromEntries(lanes.map((lane) => [String(lane.users), lapOf(call, lane)]));
      const laps = await inRounds({ rounds: quick ? 10 : 60, warmUp: quick ? 10 : 30 }, ways);
      for (const size of sizes.slice(1)) {
        const target = size === sizes.at(-1) ? { atMost: { p50: 1.3 } } : {};
        const what = `${call.name}, ${size.toLocaleString('en')} users`;
        addBeside(part, what, [timesOf(laps[size]!), timesOf(laps[1000]!)], target);
      }
    }
    return part;
  });
}

/** Rows that have expired: 20,000 calls of the bot for each run of the task. */
const expired = `insert or ignore into bot_calls (rowid, id, fingerprint, by, at, answer)
  with recursive old (i) as (select 1 union all select i + 1 from old where i < ?)
  select -i, 'old_' || i, hex(zeroblob(32)), 'nobody', 1, '{}' from old`;

export function measureCleanup(quick: boolean): Promise<Part> {
  const users = quick ? 10_000 : 1_000_000;
  return withRig(async (rig) => {
    const { client } = await rig.database(users);
    const worker = await rig.solace({}, 'tests/bench/workers/socket-count');
    const part = partBeside(`The calls while expired rows go, at ${users.toLocaleString('en')} users`, 'calm');
    for (const call of calls) {
      await client.execute({ sql: expired, args: [quick ? 400_000 : 1_500_000] });
      const calm = lapOf(call, { caller: rig.caller(worker), client, users });
      // During one run of the minutely tasks, which takes longer.
      const cleaning = async () => {
        const cleaned = fetch(`${worker.url}/cron`, { method: 'POST' });
        const lap = await calm();
        await cleaned;
        return lap;
      };
      const laps = await inRounds({ rounds: quick ? 6 : 20, warmUp: 2 }, { cleaning, calm });
      addBeside(part, call.name, [timesOf(laps.cleaning), timesOf(laps.calm)], { atMost: { p95: 1.5 } });
      const { rows } = await client.execute(`select count(*) as n from bot_calls where by = 'nobody'`);
      if (Number(rows[0]!.n) === 0) throw new Error('Nothing was left to delete beside the calls.');
    }
    return part;
  });
}

const levels = [1, 2, 4, 8, 16];
const everybody = Array.from({ length: 6000 }, (_, user) => user);
const toOneUser: Call = { ...calls[1]!, name: 'bot/usage of one user', request: async () => usageRequest(0) };

/** Each hot call over more and more connections, as fast as it is answered, beside the bare Worker. */
export function measureLoad(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    const { client, pid } = await rig.database(everybody.length);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const columns = ['a second', 'bare a second', 'Solace to bare', 'a core in the Worker', 'a core in the database'];
    const part = partBeside('Load to the limit, on the machine that also calls', 'bare', columns);
    const cases = [...calls, toOneUser].flatMap((call) => levels.map((connections) => ({ ...call, connections })));
    for (const { name, request, prepare, connections } of cases) {
      const floodOf = (running: Running) => {
        const caller = rig.caller(running, connections);
        return async () => {
          await prepare?.(client, everybody);
          const used = measureCpu(running.pid, pid);
          const begun = performance.now();
          const times = await caller.flood(request, { ms: quick ? 500 : 1500, most: everybody.length });
          const took = performance.now() - begun;
          return { times, perSecond: (times.length * 1000) / took, cpu: used().map((ms) => ms / took) };
        };
      };
      const { ours, theirs } = await inRounds(
        { rounds: quick ? 2 : 4 },
        { ours: floodOf(solace), theirs: floodOf(bare) },
      );
      const [mine, other] = [ours, theirs].map((laps) => laps.map(({ perSecond }) => perSecond)) as [
        number[],
        number[],
      ];
      const cores = [0, 1].map((process) => `${Math.round(100 * median(ours.map(({ cpu }) => cpu[process]!)))} %`);
      const more = [median(mine), median(other), compare(mine, other).text, ...cores];
      addBeside(part, `${name}, ${connections} connections`, [timesOf(ours), timesOf(theirs)], { more });
    }
    return part;
  });
}
