import type { Client } from '@libsql/client/web';
import { Caller } from '../load/caller.ts';
import { Cost } from '../load/cost.ts';
import { codeRow, meRequest, usageRequest, verifyRequest, type Request } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median, quantile } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { withRig } from '../rig/rig.ts';

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
  {
    name: 'verify-otp',
    request: async (person) => verifyRequest(person),
    prepare: putCodes,
    atMost: { near: 1.4, far: 1.2 },
  },
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
      part.targets.push({
        what,
        value: ratio.ratio,
        atMost: roundTripMs > 0 ? call.atMost.far : call.atMost.near,
        unit: '',
      });
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
export function lapOf(call: Call, caller: Caller, database: Client, cost: Cost, users = 1000): () => Promise<number[]> {
  let next = 0;
  return async () => {
    const chosen = Array.from({ length: lapSize }, () => (next++ % people) * Math.floor(users / people));
    await call.prepare?.(database, chosen);
    const requests = await Promise.all(chosen.map((person) => call.request(person)));
    return cost.of(lapSize, () => caller.lap(requests));
  };
}
