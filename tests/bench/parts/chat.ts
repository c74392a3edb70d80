import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../load/caller.ts';
import { Crowd, type Stream } from '../load/crowd.ts';
import { paced, type Audience, type Delivered } from '../load/paced.ts';
import { replyRequest, tokenOf } from '../load/request.ts';
import { inRounds } from '../load/rounds.ts';
import { compare } from '../load/statistics.ts';
import type { Part } from '../report.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { bytesPerMessage } from './chat-storage.ts';
import { addRow, consentAll, header, measureSending, p95 } from './sending.ts';

const people = 1000;
const changes = 200;
/** Users and the open chat streams of each: a user may have ten. */
const audiences = [
  { users: 1, streamsEach: 1 },
  { users: 10, streamsEach: 10 },
];

/** Sending, receiving and resuming the conversation, beside a bare Worker and a bare Durable Object. */
export function measureChat(quick: boolean): Promise<Part> {
  return withRig(async (rig) => {
    await rig.database(people);
    // Alarms need a folder.
    const solace = await rig.solace({ botUrl: await rig.bot(), disk: rig.folder() });
    const bare = await rig.bare({ disk: rig.folder() });
    await consentAll(solace, people);
    const part: Part = { title: 'The conversation', header, rows: [], targets: [] };
    await measureSending(part, { solace, bare, rounds: quick ? 8 : 30, atMost: 1.6 });
    for (const audience of audiences) await measureReplies(part, solace, bare, audience, quick);
    await measureResuming(part, solace, bare, quick);
    await measureStorage(part, rig, quick);
    return part;
  });
}

/** From the bot's reply to the open streams, beside a bare Worker that makes one database request and tells a bare object. */
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
    { what: 'p50 of a reply beside the bare Worker and object', value: p50, atMost: 1.4, unit: '' },
    { what: 'p95 of a reply beside the bare Worker and object', value: slow, atMost: 1.5, unit: '' },
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
