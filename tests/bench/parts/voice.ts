import { randomFillSync } from 'node:crypto';
import { largestRecordingBytes } from '#contract/chat-limits';
import {
  Caller,
  consentAll,
  fetchedRecording,
  readRecording,
  recordingRequest,
  spokenReply,
  type Request,
} from '../load/request.ts';
import { besideHeader as header, besideRow, compare, inRounds, type Part } from '../report.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import { peakKb, resetPeak, residentKb, type Running } from '../rig/workerd.ts';

/** One minute at the bit rate that the page asks for. */
const usualBytes = 200 * 1024;
const speakers = 20;
const lapSize = 20;
/** The Worker is idle again: the bot has got the recording before. */
const pauseMs = 10;
const atMost = 1.5;

/** Sending and reading a recording beside a bare Worker and object, and the memory of a call with the largest one. */
export async function measureVoice(quick: boolean): Promise<Part> {
  const part: Part = { title: 'Voice messages', header, rows: [], targets: [] };
  await withRig(async (rig) => {
    await rig.database(speakers);
    const solace = await rig.solace({ botUrl: await rig.bot(), disk: rig.folder() });
    const bare = await rig.bare({ disk: rig.folder() });
    await consentAll(solace, speakers);
    await measureRecordings(part, solace, bare, quick ? 8 : 30);
  });
  await withRig((rig) => measureMemory(part, rig));
  return part;
}

/** A recording of random bytes that begins as Ogg does. */
function recordingOf(bytes: number): Buffer {
  const recording = randomFillSync(Buffer.alloc(bytes));
  recording.fill(0, 0, 28).write('OggS');
  recording.write('OpusHead', 28);
  return recording;
}

async function measureRecordings(part: Part, solace: Running, bare: Running, rounds: number): Promise<void> {
  const [ours, theirs] = [new Caller(solace.url), new Caller(bare.url)];
  const bytes = recordingOf(usualBytes);
  const toObject = (request: Request) => ({ ...request, path: request.path.replace('/api/user/chat/', '/objects/') });
  const ids = Array.from({ length: speakers }, () => crypto.randomUUID());
  for (const [index, id] of ids.entries()) {
    const request = await recordingRequest(index, bytes, id);
    await ours.call(request);
    await theirs.call(toObject(request));
  }
  const actions: [what: string, request: (index: number) => Promise<Request>][] = [
    ['send a recording of 200 KiB', (index) => recordingRequest(index, bytes)],
    ['read it', (index) => readRecording(index, ids[index]!)],
  ];
  for (const [what, request] of actions) {
    const lapOf = (caller: Caller, change: (each: Request) => Request) => async () => {
      const requests = await Promise.all(Array.from({ length: lapSize }, (_, index) => request(index % speakers)));
      return caller.lap(requests.map(change), pauseMs);
    };
    const lanes = { ours: lapOf(ours, (each) => each), theirs: lapOf(theirs, toObject) };
    await inRounds(Math.ceil(rounds / 3), lanes);
    const laps = await inRounds(rounds, lanes);
    part.rows.push(besideRow(what, laps.ours, laps.theirs));
    const { ratio } = compare(laps.ours, laps.theirs);
    part.targets.push({ what: `${what}, beside a bare Worker and object`, value: ratio, atMost, unit: '' });
  }
  await Promise.all([ours.close(), theirs.close()]);
}

const mostMemory = 20;

/**
 * The memory of a call with a recording of the largest size: how much the highest resident memory of a fresh process
 * exceeds that before the calls, one alone, or eight at once divided by eight. Garbage and the live object count too.
 */
async function measureMemory(part: Part, rig: Rig): Promise<void> {
  await rig.database(speakers);
  const botUrl = await rig.bot();
  const disk = rig.folder();
  const bytes = recordingOf(largestRecordingBytes);
  const ids = Array.from({ length: speakers }, () => crypto.randomUUID());
  const calls: [what: string, request: (index: number) => Promise<Request>][] = [
    ['send a recording of 1.9 MB', (index) => recordingRequest(index, bytes, ids[index])],
    ['read it', (index) => readRecording(index, ids[index]!)],
    ['the bot fetches it', async (index) => fetchedRecording(index, ids[index]!)],
    ['the bot replies with one', async (index) => spokenReply(index, bytes)],
  ];
  for (const [what, request] of calls) {
    for (const atOnce of [1, 8]) {
      // The users of the eight follow those of the one, so that each process stores new recordings.
      const users = Array.from({ length: atOnce }, (_, index) => (atOnce === 1 ? 0 : 1 + index));
      const solace = await rig.solace({ botUrl, disk });
      await consentAll(solace, speakers);
      const mib = await memoryOf(solace, users, request);
      await solace.stop();
      const name = `memory: ${what}, ${atOnce === 1 ? 'alone' : `${atOnce} at once, each`}`;
      part.rows.push([`${name}: ${mib.toFixed(1)} MiB`, '', '', '', '', '', '']);
      part.targets.push({ what: name, value: mib, atMost: mostMemory, unit: ' MiB' });
    }
  }
}

/** The memory (MiB) of each of these calls, made at once, after small ones of every kind, which load what all share. */
async function memoryOf(
  { url, pid }: Running,
  users: number[],
  request: (index: number) => Promise<Request>,
): Promise<number> {
  const caller = new Caller(url, users.length);
  const small = recordingOf(2000);
  for (let index = 0; index < speakers; index += 1) {
    const id = crypto.randomUUID();
    await caller.call(await recordingRequest(index, small, id));
    await caller.call(await readRecording(index, id));
    await caller.call(fetchedRecording(index, id));
    await caller.call(spokenReply(index, small));
  }
  const requests = await Promise.all(users.map(request));
  const before = residentKb(pid);
  resetPeak(pid);
  await Promise.all(requests.map((each) => caller.call(each)));
  const peak = peakKb(pid);
  await caller.close();
  return (peak - before) / 1024 / users.length;
}
