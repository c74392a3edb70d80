import type { Client } from '@libsql/client/web';
import {
  type Caller,
  chatRequest,
  codeRow,
  meRequest,
  newestMessage,
  otpRequest,
  planRequest,
  platformRequest,
  ticketRequest,
  usageRequest,
  verifyRequest,
  type Request,
} from '../load/request.ts';
import { addBeside, compare, inRounds, median, type Part, partBeside } from '../measurement.ts';
import { waiting } from '../rig/database.ts';
import { Rig } from '../rig/rig.ts';
import { ports } from '../rig/settings.ts';
import type { Running } from '../rig/workerd.ts';

type Call = {
  name: string;
  request: (person: number) => Promise<Request>;
  prepare?: (database: Client, people: number[]) => Promise<unknown>;
  /** The ratio to the bare Worker by the distance of the database in ms. On this machine it has no limit. */
  atMost: Record<number, number>;
};

const putCodes = (database: Client, people: number[]) =>
  database.batch(people.map(codeRow), 'write');

const calls: Call[] = [
  { name: 'me', request: meRequest, atMost: { 2: 1.15, 10: 1.05 } },
  {
    name: 'bot/usage',
    request: async (person) => usageRequest(person),
    atMost: { 2: 1.25, 10: 1.08 },
  },
  {
    name: 'verify-otp',
    request: verifyRequest,
    prepare: putCodes,
    atMost: { 2: 1.35, 10: 1.1 },
  },
];

const lapSize = 50;
const people = 100;

type Requests = Pick<Call, 'request' | 'prepare'>;
type Lane = {
  caller: Caller;
  client: Client;
  users: number;
  pauseMs?: number;
};

/** One lap of a call for a few users, who are distributed over the whole database: the time of each call. */
export function lapOf({ request, prepare }: Requests, { caller, client, users, pauseMs }: Lane) {
  let next = 0;
  return async () => {
    const chosen = Array.from(
      { length: lapSize },
      () => (next++ % people) * Math.floor(users / people),
    );
    await prepare?.(client, chosen);
    return caller.lap(await Promise.all(chosen.map(request)), pauseMs);
  };
}

/** A call of `verify-otp` takes from 790 to 1,040 µs of processor time, depending on the process (2026-11-28). */
const starts = 3;

/** The product's calls beside a bare Worker that makes one request to the same database with the same client. */
export async function measureCalls(
  rig: Rig,
  quick: boolean,
  wholeRounds = 100,
  roundTripMs = 0,
): Promise<Part> {
  const users = 1000;
  const { client } = await rig.database(users);
  const place = roundTripMs > 0 ? { databasePort: await rig.distance(roundTripMs) } : {};
  const where = roundTripMs > 0 ? `, the database ${roundTripMs} ms away` : '';
  const part = partBeside(`Calls, one after the other${where}`);
  const rounds = Math.ceil((quick ? 12 : wholeRounds) / starts);
  const laps = new Map(
    calls.map((call) => [call, { ours: [] as number[][], theirs: [] as number[][] }]),
  );
  for (let start = 0; start < starts; start += 1) {
    await using own = new Rig();
    const ours = {
      caller: own.caller(await own.solace(place)),
      client,
      users,
    };
    const theirs = {
      caller: own.caller(await own.bare(place)),
      client,
      users,
    };
    for (const [call, all] of laps) {
      const lanes = {
        ours: lapOf(call, ours),
        theirs: lapOf(call, theirs),
      };
      const each = await inRounds({ rounds, warmUp: Math.min(40, rounds) }, lanes);
      all.ours.push(...each.ours);
      all.theirs.push(...each.theirs);
    }
  }
  for (const [{ name, atMost }, { ours, theirs }] of laps) {
    const p50 = atMost[roundTripMs];
    const target = p50 === undefined ? {} : { atMost: { p50 } };
    addBeside(part, `${name}${where}`, [ours, theirs], target);
  }
  return part;
}

/** Calls that must cost the same however much the database holds. */
const everyCall: (Requests & { name: string })[] = [
  ...calls,
  { name: 'platform', request: platformRequest },
  {
    name: 'bot/entitlements',
    request: async (person) => usageRequest(person, '/api/bot/entitlements'),
  },
  { name: 'request-otp', request: otpRequest },
  { name: 'stream-ticket', request: ticketRequest },
  { name: 'subscription', request: planRequest },
  { name: 'send a message', request: chatRequest },
  { name: 'read the newest message', request: newestMessage },
];

/** Rows of the outbox that wait, and events of Stripe, beside so many users. */
const mostWaiting = 100_000;

/** The same calls over an almost empty and a full database, each with a Worker and a database process of its own. */
export async function measureGrowth(rig: Rig, quick: boolean): Promise<Part> {
  const most = quick ? 100_000 : 1_000_000;
  const laneOf = async (users: number, databasePort: number, rows: number): Promise<Lane> => {
    const { client } = await rig.database(users, databasePort);
    for (const sql of rows > 0 ? waiting : [])
      await client.execute({
        sql,
        args: [rows],
      });
    const own = Array.from({ length: people }, (_, index) => index * Math.floor(users / people));
    const solace = await rig.conversationsOf(own, {
      port: databasePort + 1,
      databasePort,
    });
    return { caller: rig.caller(solace), client, users };
  };
  const rows = quick ? mostWaiting / 10 : mostWaiting;
  const small = await laneOf(1000, ports.growth, 0);
  const large = await laneOf(most, ports.growth + 2, rows);
  const figures = [most, rows].map((count) => count.toLocaleString('en'));
  const title = `The same calls with ${figures[0]} users, ${figures[1]} rows that wait for the bot and as many events`;
  const part = partBeside(title, '1,000 users');
  for (const call of everyCall) {
    const lanes = {
      large: lapOf(call, large),
      small: lapOf(call, small),
    };
    const laps = await inRounds({ rounds: quick ? 10 : 40, warmUp: quick ? 10 : 20 }, lanes);
    const what = `${call.name}, ${figures[0]} users`;
    addBeside(part, what, [laps.large, laps.small], { atMost: { p50: 1.3 } });
  }
  return part;
}

/** Rows that have expired: 20,000 calls of the bot for each run of the task. */
const expired = `insert or ignore into bot_calls (rowid, id, fingerprint, by, at, facts)
  with recursive old (i) as (select 1 union all select i + 1 from old where i < ?)
  select -i, 'old_' || i, hex(zeroblob(32)), 'nobody', 1, '{}' from old`;

export async function measureCleanup(rig: Rig, quick: boolean): Promise<Part> {
  const users = quick ? 10_000 : 1_000_000;
  const { client } = await rig.database(users);
  const worker = await rig.solace({}, 'tests/bench/workers/instrumented');
  const part = partBeside(
    `The calls while expired rows go, at ${users.toLocaleString('en')} users`,
    'calm',
  );
  for (const call of calls) {
    await client.execute({
      sql: expired,
      args: [quick ? 400_000 : 1_500_000],
    });
    const calm = lapOf(call, {
      caller: rig.caller(worker),
      client,
      users,
    });
    // During one run of the minutely tasks, which takes longer.
    const cleaning = async () => {
      const cleaned = fetch(`${worker.url}/cron`, { method: 'POST' });
      const lap = await calm();
      await cleaned;
      return lap;
    };
    const laps = await inRounds({ rounds: quick ? 6 : 20, warmUp: 2 }, { cleaning, calm });
    addBeside(part, call.name, [laps.cleaning, laps.calm], { atMost: { p95: 1.5 } });
    const { rows } = await client.execute(
      `select count(*) as n from bot_calls where by = 'nobody'`,
    );
    if (Number(rows[0]!.n) === 0) throw new Error('Nothing was left to delete beside the calls.');
  }
  return part;
}

const levels = [1, 2, 4, 8, 16];
const everybody = Array.from({ length: 6000 }, (_, user) => user);

/** Each hot call over more and more connections, as fast as it is answered, beside the bare Worker. */
export async function measureLoad(rig: Rig, quick: boolean): Promise<Part> {
  const { client } = await rig.database(everybody.length);
  const [solace, bare] = [await rig.solace(), await rig.bare()];
  const columns = ['a second', 'bare a second', 'Solace to bare'];
  const part = partBeside('Load to the limit, on the machine that also calls', 'bare', columns);
  const cases = calls.flatMap((call) =>
    levels.map((connections) => ({
      ...call,
      connections,
    })),
  );
  for (const { name, request, prepare, connections } of cases) {
    const floodOf = (running: Running) => {
      const caller = rig.caller(running, connections);
      return async () => {
        await prepare?.(client, everybody);
        return caller.flood(request, {
          ms: quick ? 500 : 1500,
          most: everybody.length,
        });
      };
    };
    const lanes = { ours: floodOf(solace), theirs: floodOf(bare) };
    const { ours, theirs } = await inRounds({ rounds: quick ? 2 : 4 }, lanes);
    const [mine, other] = [rates(ours), rates(theirs)];
    const more = [median(mine), median(other), compare(mine, other).text];
    addBeside(part, `${name}, ${connections} connections`, [times(ours), times(theirs)], {
      atMost: {},
      more,
    });
  }
  return part;
}

type Flood = Awaited<ReturnType<Caller['flood']>>;
const times = (floods: Flood[]) => floods.map((flood) => flood.times);
const rates = (floods: Flood[]) => floods.map(({ perSecond }) => perSecond);
