import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFillSync } from 'node:crypto';
import type { Client } from '@libsql/client/web';
import Database from 'libsql';
import { largestRecordingBytes } from '#contract/chat-limits';
import { addDelivery, type Delivery, openAudience, solaceUrl } from '../load/crowd.ts';
import {
  replyRequest,
  chatRequest,
  newestMessage,
  fetchedRecording,
  readRecording,
  recordingRequest,
  spokenReply,
  type Request,
} from '../load/request.ts';
import { addBeside, inRounds, type Part, partBeside, memoryKb, resetPeak } from '../measurement.ts';
import { Rig } from '../rig/rig.ts';
import { ports } from '../rig/settings.ts';
import type { Running } from '../rig/workerd.ts';
import { lapOf } from './calls.ts';

const people = 1000;
const changes = 200;

type Bench = {
  rig: Rig;
  client: Client;
  part: Part;
  solace: Running;
  bare: Running;
  quick: boolean;
};

/** The product and the bare Worker, with folders, which alarms need. */
async function startBoth(rig: Rig, place: { databasePort?: number } = {}) {
  const { client } = await rig.database(people);
  const solace = await rig.conversations(people, place);
  const bare = await rig.bare({ ...place, disk: rig.folder() });
  return { rig, client, solace, bare };
}

export async function measureChat(rig: Rig, quick: boolean): Promise<Part> {
  const bench = {
    ...(await startBoth(rig)),
    part: partBeside('The conversation'),
    quick,
  };
  await measureSending(bench, { rounds: quick ? 8 : 30 });
  await measureReplies(bench, 1);
  // A user may have ten streams.
  await measureReplies(bench, 10, { atMost: { p50: 1.4, p95: 1.5 } });
  await measureResuming(bench);
  const bytes = await bytesPerMessage(rig, quick ? 200 : 2000);
  bench.part.rows.push([`storage of a message of 191 characters: ${Math.round(bytes)} bytes`]);
  return bench.part;
}

const bareReply = (user: number, number: number) =>
  replyRequest(user, number, `/streams/${user}/reply`);

/** From the bot's reply to the open streams of some users with as many each, beside a bare Worker that makes one database request and calls a bare object. */
async function measureReplies(
  bench: Bench,
  users: number,
  target: Pick<Delivery, 'atMost'> = {},
): Promise<void> {
  const { rig, part, solace, bare, quick } = bench;
  const group = { users, each: users, from: 0 };
  const chatUrl = (user: number) => solaceUrl(solace, user, 'chat-stream');
  const bareUrl = (user: number) => `${bare.url}/streams/${user}`;
  const ours = await openAudience(rig, solace, {
    ...group,
    urlOf: chatUrl,
    post: (...of) => replyRequest(...of),
  });
  const theirs = await openAudience(rig, bare, {
    ...group,
    urlOf: bareUrl,
    post: bareReply,
  });
  const delivery = {
    rounds: quick ? 2 : 8,
    warmUp: 1,
    seconds: quick ? 1 : 4,
    ...target,
  };
  await addDelivery(
    part,
    `a reply until ${users * users} streams show it`,
    [ours, theirs],
    delivery,
  );
}

async function measureResuming({ rig, part, solace, bare, quick }: Bench): Promise<void> {
  const user = people - 1;
  const [ours, theirs] = [rig.caller(solace), rig.caller(bare)];
  const { revision } = JSON.parse(await ours.call(await newestMessage(user))) as {
    revision: number;
  };
  for (let number = 1; number <= changes; number += 1) {
    await ours.call(replyRequest(user, number));
    await theirs.call(bareReply(user, number));
  }
  const ourUrl = `${await solaceUrl(solace, user, 'chat-stream')}&after=${revision}`;
  const theirUrl = `${bare.url}/streams/${user}?after=0`;
  const ways = {
    ours: async () => [await timeUntilAll(ourUrl)],
    theirs: async () => [await timeUntilAll(theirUrl)],
  };
  const laps = await inRounds({ rounds: quick ? 5 : 40, warmUp: 3 }, ways);
  addBeside(part, `resume after ${changes} changes`, [laps.ours, laps.theirs]);
}

async function timeUntilAll(url: string): Promise<number> {
  const begun = performance.now();
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  let ms = 0;
  let seen = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    seen += decoder.decode(chunk, { stream: true }).split('"type":"message"').length - 1;
    ms = performance.now() - begun;
    if (seen >= changes) break;
  }
  await sleep(20);
  return ms;
}

async function bytesPerMessage(rig: Rig, messages: number): Promise<number> {
  const disk = rig.folder();
  const caller = rig.caller(
    await rig.conversations(1, {
      port: ports.growth,
      disk,
    }),
  );
  await caller.call(replyRequest(0, 0));
  const empty = sizeOf(disk);
  for (let number = 1; number <= messages; number += 1) await caller.call(replyRequest(0, number));
  return (sizeOf(disk) - empty) / messages;
}

function sizeOf(disk: string): number {
  const files = readdirSync(disk, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => /LiveUser.*\.sqlite$/.test(name));
  if (!file) throw new Error(`No conversation is stored in ${disk}: ${files.join(', ')}`);
  const database = new Database(join(disk, file), { readonly: true });
  const query = 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size';
  const { bytes } = database.prepare(query).get() as { bytes: number };
  database.close();
  return bytes;
}

/** Few senders, so that the warm-up has created their Durable Objects. */
const senders = 100;
/** The Worker is idle again: the bot has got the message before. */
const untilIdleMs = 10;

type Sending = { rounds: number; atMost?: number; where?: string };

async function measureSending(
  bench: Omit<Bench, 'quick'>,
  { rounds, atMost, where = '' }: Sending,
): Promise<void> {
  const { rig, client, part, solace, bare } = bench;
  const toObject = async (index: number) => {
    const request = await chatRequest(index);
    return {
      ...request,
      path: request.path.replace('/api/user/chat/messages', '/objects/messages'),
    };
  };
  for (const pauseMs of [untilIdleMs, 0]) {
    const laneOf = (running: Running, request = chatRequest) =>
      lapOf(
        { request },
        {
          caller: rig.caller(running),
          client,
          users: senders,
          pauseMs,
        },
      );
    const lanes = {
      ours: laneOf(solace),
      worker: laneOf(bare),
      object: laneOf(bare, toObject),
    };
    const laps = await inRounds({ rounds, warmUp: Math.ceil(rounds / 3) }, lanes);
    const what = `send a message${where}${pauseMs > 0 ? '' : ', without a pause'}`;
    const target = pauseMs > 0 && atMost ? { atMost: { p50: atMost } } : {};
    addBeside(part, `${what}, beside a bare Worker`, [laps.ours, laps.worker], target);
    addBeside(part, `${what}, beside a bare Worker that also stores in an object`, [
      laps.ours,
      laps.object,
    ]);
  }
}

export async function measureSendingFar(_: Rig, quick: boolean): Promise<Part> {
  const part = partBeside('A message, the database at a distance');
  for (const [roundTripMs, atMost] of [
    [2, 1.4],
    [10, 1.12],
  ] as const) {
    const rounds = quick ? 4 : 12;
    // One for each distance, since both use the same ports.
    await using rig = new Rig();
    const both = await startBoth(rig, { databasePort: await rig.distance(roundTripMs) });
    const where = `, the database ${roundTripMs} ms away`;
    await measureSending({ ...both, part }, { rounds, atMost, where });
  }
  return part;
}

const speakers = 20;
const mostMemory = 20;

function recordingOf(bytes: number): Buffer {
  const recording = randomFillSync(Buffer.alloc(bytes));
  recording.fill(0, 0, 28).write('OggS');
  recording.write('OpusHead', 28);
  return recording;
}

/**
 * The memory of a call with a recording of the largest size: how much the highest resident memory of a fresh process
 * exceeds that before the calls, one alone, or eight at once divided by eight. Garbage and the live object count too.
 */
export async function measureVoice(rig: Rig): Promise<Part> {
  await rig.database(speakers);
  const disk = rig.folder();
  const bytes = recordingOf(largestRecordingBytes);
  const ids = Array.from({ length: speakers }, () => crypto.randomUUID());
  const calls = {
    'the user sends it': (index: number) => recordingRequest(index, bytes, ids[index]!),
    'the user reads it': (index: number) => readRecording(index, ids[index]!),
    'the bot fetches it': async (index: number) => fetchedRecording(index, ids[index]!),
    'the bot replies with one': async (index: number) => spokenReply(index, bytes),
  };
  const header = ['call', 'alone, MiB', 'each of eight at once, MiB'];
  const part: Part = {
    title: 'Memory of a call with a recording of 1.9 MB',
    header,
    rows: [],
    targets: [],
  };
  for (const [what, request] of Object.entries(calls)) {
    const row: (string | number)[] = [what];
    // The users of the eight follow the one, so that each process stores new recordings.
    for (const users of [[0], [1, 2, 3, 4, 5, 6, 7, 8]]) {
      const solace = await rig.conversations(speakers, { disk });
      const value = await memoryOf(rig, solace, await Promise.all(users.map(request)));
      await solace.stop();
      row.push(value);
      part.targets.push({
        what: `${what}, ${users.length} at once`,
        value,
        atMost: mostMemory,
        unit: ' MiB',
      });
    }
    part.rows.push(row);
  }
  return part;
}

/** The memory (MiB) of each of these calls, made at once, after small ones of every kind, which load what all share. */
async function memoryOf(rig: Rig, running: Running, requests: Request[]): Promise<number> {
  const caller = rig.caller(running, requests.length);
  const small = recordingOf(2000);
  for (let index = 0; index < speakers; index += 1) {
    const id = crypto.randomUUID();
    await caller.call(await recordingRequest(index, small, id));
    await caller.call(await readRecording(index, id));
    await caller.call(fetchedRecording(index, id));
    await caller.call(spokenReply(index, small));
  }
  const before = memoryKb(running.pid);
  resetPeak(running.pid);
  await Promise.all(requests.map((each) => caller.call(each)));
  return (memoryKb(running.pid, 'VmHWM') - before) / 1024 / requests.length;
}
