import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../load/caller.ts';
import { Crowd, type Stream } from '../load/crowd.ts';
import { paced, type Audience, type Delivered } from '../load/paced.ts';
import { chatRequest, consentRequest, replyRequest, tokenOf, type Request } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare, median, quantile } from '../load/statistics.ts';
import { ratioText, type Part } from '../report.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { bytesPerMessage } from './chat-storage.ts';

const people = 1000;
/** Few senders, so that the warm-up has created their Durable Objects. */
const senders = 100;
const lapSize = 50;
const changes = 200;
/** Users and the open chat streams of each: a user may have ten. */
const audiences = [
  { users: 1, streamsEach: 1 },
  { users: 10, streamsEach: 10 },
];
const p95 = (values: number[]) => quantile(values, 0.95);

/** Sending, receiving and resuming the conversation, beside a bare Worker and a bare Durable Object. */
export function measureChat(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(people);
    // Alarms need a folder.
    const solace = await rig.solace({ botUrl: await rig.bot(), disk: rig.folder() });
    const bare = await rig.bare({ disk: rig.folder() });
    await consentAll(solace);
    const part: Part = { title: 'The conversation', header, rows: [], targets: [] };
    await measureSending(part, solace, bare, quick);
    for (const audience of audiences) await measureReplies(part, solace, bare, audience, quick);
    await measureResuming(part, solace, bare, quick);
    await measureStorage(part, rig, quick);
    return part;
  });
}

const header = ['what', 'p50 ms', 'p95 ms', 'bare p50 ms', 'bare p95 ms', 'ratio of p50 (middle half)', 'ratio of p95'];

async function consentAll({ url }: Running, count = people): Promise<void> {
  const caller = new Caller(url, 8);
  const waiting = Array.from({ length: count }, (_, index) => index);
  const consent = async () => {
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop())
      await caller.call(await consentRequest(index));
  };
  await Promise.all(Array.from({ length: 8 }, consent));
  await caller.close();
}

function addRow(part: Part, what: string, ours: number[][], theirs: number[][]): void {
  const [mine, other] = [ours.flat(), theirs.flat()];
  const ratios = [compare(ours, theirs), compare(ours, theirs, p95)].map(ratioText);
  part.rows.push([what, median(mine), p95(mine), median(other), p95(other), ...ratios]);
}

/** One message after the other, each of another user. */
async function measureSending(part: Part, solace: Running, bare: Running, quick: boolean): Promise<void> {
  const ours = senderOf(solace, chatRequest);
  const worker = senderOf(bare, chatRequest);
  const object = senderOf(bare, async (index) => {
    const request = await chatRequest(index);
    return { ...request, path: request.path.replace('/api/user/chat/messages', '/objects/messages') };
  });
  const lanes = { ours: ours.lap, worker: worker.lap, object: object.lap };
  await inRounds(quick ? 5 : 20, lanes);
  const laps = await inRounds(quick ? 8 : 60, lanes);
  addRow(part, 'send a message, beside a bare Worker', laps.ours, laps.worker);
  addRow(part, 'the same, beside a bare Worker that also stores in an object', laps.ours, laps.object);
  const { ratio } = compare(laps.ours, laps.worker);
  part.targets.push({ what: 'send a message beside the bare Worker', value: ratio, atMost: 1.6, unit: '' });
  for (const { caller } of [ours, worker, object]) await caller.close();
}

function senderOf({ url }: Running, request: (index: number) => Promise<Request>) {
  const caller = new Caller(url);
  let next = 0;
  const lap = async () => {
    const chosen = Array.from({ length: lapSize }, () => next++ % senders);
    return caller.lap(await Promise.all(chosen.map(request)));
  };
  return { caller, lap };
}

/** From the bot's reply to the open streams. */
async function measureReplies(
  part: Part,
  solace: Running,
  bare: Running,
  { users, streamsEach }: (typeof audiences)[number],
  quick: boolean,
): Promise<void> {
  const who = Array.from({ length: users }, (_, index) => index);
  const chatUrl = async (user: number) => `${solace.url}/api/user/chat-stream?token=${await tokenOf(user)}`;
  const lanes = {
    ours: await openLane(solace, await Promise.all(who.map(chatUrl)), streamsEach, replyRequest),
    theirs: await openLane(
      bare,
      who.map((user) => `${bare.url}/streams/${user}`),
      streamsEach,
      (user, number) => ({ ...replyRequest(user, number), path: `/streams/${user}/reply` }),
    ),
  };
  const lap = (lane: Audience) => () => paced(lane, quick ? 1 : 4);
  const ways = { ours: lap(lanes.ours), theirs: lap(lanes.theirs) };
  await inRounds(1, ways);
  const laps = await inRounds(quick ? 2 : 8, ways);
  const times = (each: Delivered[]) => each.map(({ latencies }) => latencies);
  const what = `a reply until ${users * streamsEach} streams show it`;
  addRow(part, what, times(laps.ours), times(laps.theirs));
  const lost = laps.ours.reduce((sum, { lost: each }) => sum + each, 0);
  part.targets.push({ what: `${what}: lost`, value: lost, atMost: 0, unit: '' });
  if (users > 1) addReplyTargets(part, times(laps.ours), times(laps.theirs));
  for (const { caller, crowd } of Object.values(lanes)) {
    crowd.close();
    await caller.close();
  }
}

function addReplyTargets(part: Part, ours: number[][], theirs: number[][]): void {
  const [p50, slow] = [compare(ours, theirs).ratio, compare(ours, theirs, p95).ratio];
  part.targets.push(
    { what: 'p50 of a reply beside the bare object', value: p50, atMost: 1.4, unit: '' },
    { what: 'p95 of a reply beside the bare object', value: slow, atMost: 1.5, unit: '' },
  );
}

async function openLane(
  { url }: Running,
  urls: string[],
  streamsEach: number,
  post: Audience['post'],
): Promise<Audience> {
  const streams: Stream[] = urls.flatMap((each, user) =>
    Array.from({ length: streamsEach }, () => ({ user, url: each })),
  );
  const crowd = await Crowd.open(streams);
  return { caller: new Caller(url, 8), crowd, firstUser: 0, counts: urls.map(() => 0), streamsEach, post };
}

/** From the request of a stream to its last missed change. */
async function measureResuming(part: Part, solace: Running, bare: Running, quick: boolean): Promise<void> {
  const user = people - 1;
  const bareReply = (number: number) => ({ ...replyRequest(user, number), path: `/streams/${user}/reply` });
  const [ours, theirs] = [new Caller(solace.url), new Caller(bare.url)];
  const page = { method: 'GET' as const, path: '/api/user/chat?limit=1', headers: await authorization(user) };
  const { revision } = JSON.parse(await ours.call(page)) as { revision: number };
  for (let number = 1; number <= changes; number += 1) {
    await ours.call(replyRequest(user, number));
    await theirs.call(bareReply(number));
  }
  const resume = (url: string) => async () => [await timeUntil(url, changes)];
  const ways = {
    ours: resume(`${solace.url}/api/user/chat-stream?token=${await tokenOf(user)}&after=${revision}`),
    theirs: resume(`${bare.url}/streams/${user}?after=0`),
  };
  await inRounds(3, ways);
  const laps = await inRounds(quick ? 5 : 40, ways);
  addRow(part, `resume after ${changes} changes`, laps.ours, laps.theirs);
  for (const caller of [ours, theirs]) await caller.close();
}

const authorization = async (user: number) => ({ authorization: `Bearer ${await tokenOf(user)}` });

/** Milliseconds until so many messages have arrived on a stream. */
async function timeUntil(url: string, messages: number): Promise<number> {
  const ended = new AbortController();
  const begun = performance.now();
  const response = await fetch(url, { signal: AbortSignal.any([ended.signal, AbortSignal.timeout(10_000)]) });
  let seen = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    seen += decoder.decode(chunk, { stream: true }).split('"type":"message"').length - 1;
    if (seen >= messages) break;
  }
  const ms = performance.now() - begun;
  ended.abort();
  await sleep(20);
  return ms;
}

async function measureStorage(part: Part, rig: Rig, quick: boolean): Promise<void> {
  const bytes = await bytesPerMessage(rig, quick ? 200 : 2000, consentAll);
  part.rows.push([`storage of a message of 191 characters: ${Math.round(bytes)} bytes`, '', '', '', '', '', '']);
}
