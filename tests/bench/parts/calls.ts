import type { Client } from '@libsql/client/web';
import { type Caller, codeRow, meRequest, usageRequest, verifyRequest, type Request } from '../load/request.ts';
import { inRounds, compare, median, p95, p99, type Part, sum } from '../report.ts';
import { measureCpu } from '../rig/processes.ts';
import { withRig } from '../rig/rig.ts';
import { ports } from '../rig/settings.ts';

type Call = {
  name: string;
  request: (person: number) => Promise<Request>;
  /** Prepares the call for these users. */
  prepare?: (database: Client, people: number[]) => Promise<unknown>;
  /** The ratio to the bare Worker, with the database on this machine and with one at a latency of some ms. */
  atMost: { near: number; far: number };
};

const putCodes = (database: Client, people: number[]) => database.batch(people.map(codeRow), 'write');

export const calls: Call[] = [
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
function measureBeside(quick: boolean, wholeRounds: number, roundTripMs = 0): Promise<Part> {
  return withRig(async (rig) => {
    const users = 1000;
    const { client, pid: databasePid } = await rig.database(users);
    const place = roundTripMs > 0 ? { databasePort: await rig.distance(roundTripMs) } : {};
    const where = roundTripMs > 0 ? `, the database ${roundTripMs} ms away` : '';
    const part: Part = { title: `Calls, one after the other${where}`, header, rows: [], targets: [] };
    const [solace, bare] = [await rig.solace(place), await rig.bare(place)];
    const [ours, theirs] = [solace, bare].map((running) => {
      return { caller: rig.caller(running), client, users, pids: [running.pid, databasePid] };
    }) as [Lane, Lane];
    const rounds = quick ? 12 : wholeRounds;
    for (const call of calls) {
      const lanes = { ours: lapOf(call, ours), theirs: lapOf(call, theirs) };
      const laps = await inRounds({ rounds, warmUp: Math.min(40, rounds) }, lanes);
      const times = [timesOf(laps.ours), timesOf(laps.theirs)] as const;
      const { ratio, text } = compare(...times);
      const figures = times.flatMap((each) => [median(each.flat()), p99(each.flat())]);
      part.rows.push([call.name, ...figures, text, ...cpuPerCall(laps.ours), ...cpuPerCall(laps.theirs)]);
      const what = `${call.name} beside the bare Worker${where}, ratio of medians`;
      part.targets.push({ what, value: ratio, atMost: roundTripMs > 0 ? call.atMost.far : call.atMost.near });
    }
    return part;
  });
}

export const measureCalls = (quick: boolean) => measureBeside(quick, 100);

/** With the database in the same region. */
export const measureCallsAt2Ms = (quick: boolean) => measureBeside(quick, 60, 2);

/** With the database across a continent. */
export const measureCallsAt40Ms = (quick: boolean) => measureBeside(quick, 6, 40);

const header = [
  'call',
  'p50 ms',
  'p99 ms',
  'bare p50 ms',
  'bare p99 ms',
  'ratio of p50 (middle half)',
  'CPU ms Worker',
  'CPU ms database',
  'bare CPU ms Worker',
  'bare CPU ms database',
];

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
    const names = sizes.map((size) => size.toLocaleString('en'));
    const times = names.map((name) => `${name} users, p50 ms`);
    const header = ['call', ...times, ...names.slice(1).map((name) => `${name} to 1,000`)];
    const part: Part = { title: 'The same calls as the database grows', header, rows: [], targets: [] };
    for (const call of calls) {
      const ways = Object.fromEntries(lanes.map((lane, index) => [names[index]!, lapOf(call, lane)]));
      const laps = await inRounds({ rounds: quick ? 10 : 60, warmUp: quick ? 10 : 30 }, ways);
      const [least, ...larger] = names.map((name) => timesOf(laps[name]!)) as [number[][], ...number[][][]];
      const ratios = larger.map((each) => compare(each, least));
      const medians = [least, ...larger].map((each) => median(each.flat()));
      part.rows.push([call.name, ...medians, ...ratios.map(({ text }) => text)]);
      const what = `${call.name} at ${names.at(-1)} users beside 1,000, ratio of medians`;
      part.targets.push({ what, value: ratios.at(-1)!.ratio, atMost: 1.3 });
    }
    return part;
  });
}

/** Rows that have expired: 20,000 calls of the bot for each run of the task. */
const expired = `insert or ignore into bot_calls (rowid, id, fingerprint, by, at, answer)
  with recursive old (i) as (select 1 union all select i + 1 from old where i < ?)
  select -i, 'old_' || i, hex(zeroblob(32)), 'nobody', 1, '{}' from old`;

/** The hot calls while the cron job deletes expired rows, beside the same calls while it does not. */
export function measureCleanup(quick: boolean): Promise<Part> {
  const users = quick ? 10_000 : 1_000_000;
  return withRig(async (rig) => {
    const { client } = await rig.database(users);
    const worker = await rig.solace({}, 'tests/bench/workers/socket-count');
    const title = `The calls while expired rows go, at ${users.toLocaleString('en')} users`;
    const header = ['call', 'p50 ms', 'calm p50 ms', 'p95 ms', 'calm p95 ms', 'ratio of p95 (middle half)'];
    const part: Part = { title, header, rows: [], targets: [] };
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
      const times = [timesOf(laps.cleaning), timesOf(laps.calm)] as const;
      const { ratio, text } = compare(...times, p95);
      const figures = [median, p95].flatMap((of) => times.map((each) => of(each.flat())));
      part.rows.push([call.name, ...figures, text]);
      part.targets.push({ what: `${call.name}, p95 beside calm`, value: ratio, atMost: 1.5 });
      const { rows } = await client.execute(`select count(*) as n from bot_calls where by = 'nobody'`);
      if (Number(rows[0]!.n) === 0)
        throw new Error('Nothing was left to delete: the calls were measured beside nothing.');
    }
    return part;
  });
}
