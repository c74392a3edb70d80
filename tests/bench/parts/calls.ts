import type { Client } from '@libsql/client/web';
import { Caller, codeRow, meRequest, usageRequest, verifyRequest, type Request } from '../load/request.ts';
import { Cost, type Running } from '../rig/workerd.ts';
import { inRounds, compare, median, p95, quantile, ratioText, type Part } from '../report.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import { ports } from '../rig/settings.ts';

export type Call = {
  name: string;
  request: (person: number) => Promise<Request>;
  /** Prepares the call for these users. */
  prepare?: (database: Client, people: number[]) => Promise<unknown>;
};

const putCodes = (database: Client, people: number[]) => database.batch(people.map(codeRow), 'write');

/** `atMost`: the ratio to the bare Worker, with the database on this machine and with one at a latency of some ms. */
export const calls: (Call & { atMost: { near: number; far: number } })[] = [
  { name: 'me', request: meRequest, atMost: { near: 1.25, far: 1.1 } },
  { name: 'bot/usage', request: async (person) => usageRequest(person), atMost: { near: 1.4, far: 1.15 } },
  { name: 'verify-otp', request: verifyRequest, prepare: putCodes, atMost: { near: 1.5, far: 1.2 } },
];

const lapSize = 50;
const people = 100;

type Distance = { roundTripMs: number; rounds: number };

/** The product's calls beside a bare Worker that makes one request to the same database with the same client. */
export function measureCalls(quick: boolean, { roundTripMs, rounds }: Distance = near): Promise<Part> {
  return withRig(async (rig) => {
    const database = await rig.database(1000);
    const place = roundTripMs > 0 ? { databasePort: await rig.distance(roundTripMs) } : {};
    const [solace, bare] = [await rig.solace(place), await rig.bare(place)];
    const where = roundTripMs > 0 ? `, the database ${roundTripMs} ms away` : '';
    const part: Part = { title: `Calls, one after the other${where}`, header, rows: [], targets: [] };
    for (const call of calls) {
      const lanes = [solace, bare].map(({ url, pid }) => {
        const [caller, cost] = [new Caller(url), new Cost(pid, database.pid)];
        return { caller, cost, lap: lapOf(call, caller, database.client, cost) };
      }) as [Lane, Lane];
      const [ours, theirs] = lanes;
      await inRounds(quick ? 10 : Math.min(40, rounds), { ours: ours.lap, theirs: theirs.lap });
      ours.cost.reset();
      theirs.cost.reset();
      const laps = await inRounds(quick ? 12 : rounds, { ours: ours.lap, theirs: theirs.lap });
      const ratio = compare(laps.ours, laps.theirs);
      const [mine, other] = [laps.ours.flat(), laps.theirs.flat()];
      part.rows.push([
        call.name,
        median(mine),
        quantile(mine, 0.99),
        median(other),
        quantile(other, 0.99),
        ratioText(ratio),
        ...ours.cost.perCall(),
        ...theirs.cost.perCall(),
      ]);
      const what = `${call.name} beside the bare Worker${where}, ratio of medians`;
      const atMost = roundTripMs > 0 ? call.atMost.far : call.atMost.near;
      part.targets.push({ what, value: ratio.ratio, atMost, unit: '' });
      for (const { caller } of lanes) await caller.close();
    }
    return part;
  });
}

const near: Distance = { roundTripMs: 0, rounds: 100 };

/** With the database in the same region. */
export const measureCallsAt2Ms = (quick: boolean) => measureCalls(quick, { roundTripMs: 2, rounds: 60 });

/** With the database across a continent. */
export const measureCallsAt40Ms = (quick: boolean) => measureCalls(quick, { roundTripMs: 40, rounds: 6 });

type Lane = { caller: Caller; cost: Cost; lap: () => Promise<number[]> };

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

/** One lap of a call for a few users, who are distributed over the whole database. */
function lapOf(call: Call, caller: Caller, database: Client, cost: Cost, users = 1000): () => Promise<number[]> {
  let next = 0;
  return async () => {
    const chosen = Array.from({ length: lapSize }, () => (next++ % people) * Math.floor(users / people));
    await call.prepare?.(database, chosen);
    const requests = await Promise.all(chosen.map((person) => call.request(person)));
    return cost.of(lapSize, () => caller.lap(requests));
  };
}

/** The same calls over databases of different sizes, each with a Worker and a database process of its own. */
export function measureGrowth(quick: boolean): Promise<Part> {
  const sizes = quick ? [1000, 100_000] : [1000, 100_000, 1_000_000];
  return withRig(async (rig) => {
    const lanes = [];
    for (const [index, users] of sizes.entries()) lanes.push(await openLane(rig, users, index));
    const names = sizes.map((size) => size.toLocaleString('en'));
    const header = [
      'call',
      ...names.map((name) => `${name} users, p50 ms`),
      ...names.slice(1).map((name) => `${name} to 1,000`),
    ];
    const part: Part = { title: 'The same calls as the database grows', header, rows: [], targets: [] };
    for (const call of calls) {
      const ways = lanes.map(({ caller, client, users }, index) => [
        index,
        lapOf(call, caller, client, new Cost(), users),
      ]);
      const laps = Object.fromEntries(ways) as Record<string, () => Promise<number[]>>;
      await inRounds(quick ? 10 : 30, laps);
      const times = Object.values(await inRounds(quick ? 10 : 60, laps));
      const ratios = times.slice(1).map((lap) => compare(lap, times[0]!));
      part.rows.push([call.name, ...times.map((lap) => median(lap.flat())), ...ratios.map(ratioText)]);
      const what = `${call.name} at ${names.at(-1)} users beside 1,000, ratio of medians`;
      part.targets.push({ what, value: ratios.at(-1)!.ratio, atMost: 1.3, unit: '' });
    }
    for (const { caller } of lanes) await caller.close();
    return part;
  });
}

async function openLane(rig: Rig, users: number, index: number) {
  const databasePort = ports.growth + 2 * index;
  const { client } = await rig.database(users, databasePort);
  const { url } = await rig.solace({ port: databasePort + 1, databasePort });
  return { caller: new Caller(url), client, users };
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
    const worker = await rig.solace({ name: 'socket-count' });
    const caller = new Caller(worker.url);
    const part: Part = {
      title: `The calls while expired rows go, at ${users.toLocaleString('en')} users`,
      header: cleanupHeader,
      rows: [],
      targets: [],
    };
    for (const call of calls) {
      await client.execute({ sql: expired, args: [quick ? 400_000 : 1_500_000] });
      const lap = lapOf(call, caller, client, new Cost(), users);
      const ways = { cleaning: () => whileCleaning(worker, lap), calm: lap };
      await inRounds(2, ways);
      const laps = await inRounds(quick ? 6 : 20, ways);
      const [cleaning, calm] = [laps.cleaning.flat(), laps.calm.flat()];
      const ratio = compare(laps.cleaning, laps.calm, p95);
      part.rows.push([call.name, median(cleaning), median(calm), p95(cleaning), p95(calm), ratioText(ratio)]);
      const { rows } = await client.execute(`select count(*) as n from bot_calls where by = 'nobody'`);
      if (Number(rows[0]!.n) === 0)
        throw new Error('There was nothing left to delete: the calls were measured beside nothing.');
      part.targets.push({ what: `${call.name}, p95 beside calm`, value: ratio.ratio, atMost: 1.5, unit: '' });
    }
    await caller.close();
    return part;
  });
}

const cleanupHeader = ['call', 'p50 ms', 'calm p50 ms', 'p95 ms', 'calm p95 ms', 'ratio of p95 (middle half)'];

/** A lap during one run of the minutely tasks, which takes longer. */
async function whileCleaning(worker: Running, lap: () => Promise<number[]>): Promise<number[]> {
  const cleaning = fetch(`${worker.url}/cron`, { method: 'POST' });
  const times = await lap();
  await cleaning;
  return times;
}
