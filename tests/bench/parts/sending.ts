import { Caller } from '../load/caller.ts';
import { chatRequest, consentRequest, type Request } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median, quantile } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { withRig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

/** Few senders, so that the warm-up has created their Durable Objects. */
const senders = 100;
const lapSize = 50;
/** The Worker is idle again: the bot has got the message before. */
const pauseMs = 10;
export const p95 = (values: number[]) => quantile(values, 0.95);

export const header = [
  'what',
  'p50 ms',
  'p95 ms',
  'bare p50 ms',
  'bare p95 ms',
  'ratio of p50 (middle half)',
  'ratio of p95',
];

export function addRow(part: Part, what: string, ours: number[][], theirs: number[][]): void {
  const [mine, other] = [ours.flat(), theirs.flat()];
  const ratios = [compare(ours, theirs), compare(ours, theirs, p95)].map(ratioText);
  part.rows.push([what, median(mine), p95(mine), median(other), p95(other), ...ratios]);
}

export async function consentAll({ url }: Running, count: number): Promise<void> {
  const caller = new Caller(url, 8);
  const waiting = Array.from({ length: count }, (_, index) => index);
  const consent = async () => {
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop())
      await caller.call(await consentRequest(index));
  };
  await Promise.all(Array.from({ length: 8 }, consent));
  await caller.close();
}

type Sending = { solace: Running; bare: Running; rounds: number; atMost: number; where?: string };

/** Messages of different users, with a pause after each or without. */
export async function measureSending(part: Part, { solace, bare, rounds, atMost, where = '' }: Sending): Promise<void> {
  const toObject = async (index: number) => {
    const request = await chatRequest(index);
    return { ...request, path: request.path.replace('/api/user/chat/messages', '/objects/messages') };
  };
  const [ours, worker, object] = [senderOf(solace, chatRequest), senderOf(bare, chatRequest), senderOf(bare, toObject)];
  for (const pause of [pauseMs, 0]) {
    const lanes = { ours: ours.lap(pause), worker: worker.lap(pause), object: object.lap(pause) };
    await inRounds(Math.ceil(rounds / 3), lanes);
    const laps = await inRounds(rounds, lanes);
    const what = `send a message${where}${pause > 0 ? '' : ', without a pause'}`;
    addRow(part, `${what}, beside a bare Worker`, laps.ours, laps.worker);
    addRow(part, `${what}, beside a bare Worker that also stores in an object`, laps.ours, laps.object);
    if (pause > 0) part.targets.push({ what, value: compare(laps.ours, laps.worker).ratio, atMost, unit: '' });
  }
  for (const { caller } of [ours, worker, object]) await caller.close();
}

function senderOf({ url }: Running, request: (index: number) => Promise<Request>) {
  const caller = new Caller(url);
  let next = 0;
  const lap = (pause: number) => async () => {
    const chosen = Array.from({ length: lapSize }, () => next++ % senders);
    return caller.lap(await Promise.all(chosen.map(request)), pause);
  };
  return { caller, lap };
}

/** Sending with a database 2 ms and 40 ms away. */
export async function measureSendingFar(quick: boolean): Promise<Part> {
  const part: Part = { title: 'A message, the database at a distance', header, rows: [], targets: [] };
  for (const [roundTripMs, wholeRounds] of [
    [2, 12],
    [40, 5],
  ] as const) {
    await withRig(async (rig) => {
      await rig.database(1000);
      const databasePort = await rig.distance(roundTripMs);
      const solace = await rig.solace({ databasePort, botUrl: await rig.bot(), disk: rig.folder() });
      const bare = await rig.bare({ databasePort, disk: rig.folder() });
      await consentAll(solace, senders);
      const [rounds, where] = [quick ? 4 : wholeRounds, `, the database ${roundTripMs} ms away`];
      await measureSending(part, { solace, bare, rounds, atMost: 1.25, where });
    });
  }
  return part;
}
