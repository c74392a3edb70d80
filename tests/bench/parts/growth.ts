import { Caller } from '../load/caller.ts';
import { Cost } from '../load/cost.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { ports } from '../rig/paths-and-ports.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import { calls, lapOf } from './calls.ts';

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
