import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, replyRequest, tokenOf, chatRequest, consentAll, type Request } from '../load/request.ts';
import { Crowd, type Stream, paced, type Audience, type Delivered } from '../load/crowd.ts';
import { besideHeader as header, besideRow, inRounds, compare, p95, type Part } from '../report.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { ports } from '../rig/settings.ts';

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
  part.rows.push(besideRow(what, times(laps.ours), times(laps.theirs)));
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
  part.rows.push(besideRow(`resume after ${changes} changes`, laps.ours, laps.theirs));
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
  const bytes = await bytesPerMessage(rig, quick ? 200 : 2000);
  part.rows.push([`storage of a message of 191 characters: ${Math.round(bytes)} bytes`, '', '', '', '', '', '']);
}

/** Bytes that one message adds to the SQLite file of its conversation. */
async function bytesPerMessage(rig: Rig, messages: number): Promise<number> {
  const disk = rig.folder();
  const running = await rig.solace({ port: ports.growth, disk, botUrl: await rig.bot() });
  await consentAll(running, 1);
  const caller = new Caller(running.url, 4);
  const write = async (count: number) => {
    for (let number = 1; number <= count; number += 1) await caller.call(replyRequest(0, number));
  };
  await write(1);
  const empty = sizeOf(disk);
  await write(messages);
  await caller.close();
  return (sizeOf(disk) - empty) / messages;
}

/** The pages of the conversation's database, in bytes. */
function sizeOf(disk: string): number {
  const files = readdirSync(disk, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => /LiveUser.*\.sqlite$/.test(name));
  if (!file) throw new Error(`No conversation is stored in ${disk}: ${files.join(', ')}`);
  const database = new Database(join(disk, file), { readonly: true });
  const number = (pragma: string) => Number(Object.values(database.prepare(`pragma ${pragma}`).get() as object)[0]);
  const size = number('page_count') * number('page_size');
  database.close();
  return size;
}

/** Few senders, so that the warm-up has created their Durable Objects. */
const senders = 100;
const lapSize = 50;
/** The Worker is idle again: the bot has got the message before. */
const pauseMs = 10;

type Sending = { solace: Running; bare: Running; rounds: number; atMost: number; where?: string };

/** Messages of different users, with a pause after each or without. */
async function measureSending(part: Part, { solace, bare, rounds, atMost, where = '' }: Sending): Promise<void> {
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
    part.rows.push(besideRow(`${what}, beside a bare Worker`, laps.ours, laps.worker));
    part.rows.push(besideRow(`${what}, beside a bare Worker that also stores in an object`, laps.ours, laps.object));
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
