import { Caller } from '../load/caller.ts';
import { paced, type Audience, type Delivered } from '../load/paced.ts';
import { usageRequest, type Request } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median, quantile } from '../load/statistics.ts';
import { bareUrl, openWeighed, solaceUrl, streamsEach, streamsOf, users, type UrlOf } from '../load/streams.ts';
import { ratioText, type Part } from '../report.ts';
import { usedBefore } from '../rig/person.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

type Lane = Audience & { kbPerStream: number };

/** From a usage post to the open streams, beside a bare Durable Object that holds and writes the streams itself. */
export function measureDelivery(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(1000);
    const [solace, bare] = [await rig.solace(), await rig.bare()];
    const lanes = {
      solace: await openLane(solace, 0, solaceUrl, (user) => usageRequest(user)),
      counting: await openLane(bare, 100, bareUrl, (user) => usageRequest(user, `/streams/${user}/count`)),
      plain: await openLane(bare, 200, bareUrl, plainPost),
    };
    const lap = (lane: Lane) => () => paced(lane, quick ? 2 : 5);
    const ways = { solace: lap(lanes.solace), counting: lap(lanes.counting), plain: lap(lanes.plain) };
    await inRounds(2, ways);
    const laps = await inRounds(quick ? 3 : 10, ways);
    for (const { caller, crowd } of Object.values(lanes)) {
      crowd.close();
      await caller.close();
    }
    return describe(laps, lanes);
  });
}

function describe(laps: Record<'solace' | 'counting' | 'plain', Delivered[]>, lanes: Record<string, Lane>): Part {
  const times = (name: keyof typeof laps) => laps[name].map(({ latencies }) => latencies);
  const slow = (values: number[]) => quantile(values, 0.95);
  const slowest = (values: number[]) => quantile(values, 0.99);
  const row = (title: string, name: keyof typeof laps) => {
    const against = (value: (values: number[]) => number) =>
      name === 'solace' ? '1' : ratioText(compare(times('solace'), times(name), value));
    const lost = laps[name].reduce((sum, { lost }) => sum + lost, 0);
    const all = times(name).flat();
    return [
      title,
      median(all),
      against(median),
      slow(all),
      against(slow),
      slowest(all),
      against(slowest),
      String(lost),
      lanes[name]!.kbPerStream,
    ];
  };
  const ratioOf = (value: (values: number[]) => number) => compare(times('solace'), times('counting'), value).ratio;
  const lost = laps.solace.reduce((sum, lap) => sum + lap.lost, 0);
  return {
    title: `Delivery to ${users} users with ${streamsEach} open streams each`,
    header: [
      'lane',
      'p50 ms',
      'Solace to it',
      'p95 ms',
      'Solace to it',
      'p99 ms',
      'Solace to it',
      'lost',
      'KB per stream',
    ],
    rows: [
      row('Solace', 'solace'),
      row('bare object, counting in the database', 'counting'),
      row('bare object, counting nothing', 'plain'),
    ],
    targets: [
      { what: 'p50 beside the bare object that counts as well', value: ratioOf(median), atMost: 1.4, unit: '' },
      { what: 'p95 beside the bare object that counts as well', value: ratioOf(slow), atMost: 1.5, unit: '' },
      { what: 'messages lost', value: lost, atMost: 0, unit: '' },
      { what: 'memory of an open stream', value: lanes.solace!.kbPerStream, atMost: 160, unit: ' KB' },
    ],
  };
}

function plainPost(user: number, used: number): Request {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path: `/streams/${user}/publish`, headers, body: JSON.stringify({ used }) };
}

async function openLane(running: Running, firstUser: number, urlOf: UrlOf, post: Audience['post']): Promise<Lane> {
  const streams = await streamsOf(running, { firstUser, users, urlOf });
  const counts = Array.from({ length: users }, () => usedBefore);
  const caller = new Caller(running.url, 8);
  return { caller, firstUser, counts, streamsEach, post, ...(await openWeighed(running, streams)) };
}
