import { Caller } from '../load/caller.ts';
import { Cost } from '../load/cost.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median, quantile } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { calls, lapOf } from './calls.ts';

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
      header,
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
      const slow = (values: number[]) => quantile(values, 0.95);
      const ratio = compare(laps.cleaning, laps.calm, slow);
      part.rows.push([call.name, median(cleaning), median(calm), slow(cleaning), slow(calm), ratioText(ratio)]);
      const { rows } = await client.execute(`select count(*) as n from bot_calls where by = 'nobody'`);
      if (Number(rows[0]!.n) === 0)
        throw new Error('There was nothing left to delete: the calls were measured beside nothing.');
      part.targets.push({ what: `${call.name}, p95 beside calm`, value: ratio.ratio, atMost: 1.5, unit: '' });
    }
    await caller.close();
    return part;
  });
}

const header = ['call', 'p50 ms', 'calm p50 ms', 'p95 ms', 'calm p95 ms', 'ratio of p95 (middle half)'];

/** A lap during one run of the minutely tasks, which takes longer. */
async function whileCleaning(worker: Running, lap: () => Promise<number[]>): Promise<number[]> {
  const cleaning = fetch(`${worker.url}/cron`, { method: 'POST' });
  const times = await lap();
  await cleaning;
  return times;
}
