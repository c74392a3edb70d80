import { Caller } from '../load/caller.ts';
import { Cost } from '../load/cost.ts';
import { usageRequest } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

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
      const lap = (running: Running, spent: Cost) => () => flood(running, among, quick ? 1000 : 3000, spent);
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
async function flood(running: Running, among: number, ms: number, cost: Cost): Promise<number[]> {
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
