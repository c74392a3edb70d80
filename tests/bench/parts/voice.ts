import { randomFillSync } from 'node:crypto';
import { largestRecordingBytes } from '#contract/chat-limits';
import { fetchedRecording, readRecording, recordingRequest, spokenReply, type Request } from '../load/request.ts';
import { addBeside, inRounds, type Part, partBeside } from '../report.ts';
import { memoryKb, resetPeak } from '../rig/processes.ts';
import { withRig, type Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

/** One minute at the bit rate that the page asks for. */
const usualBytes = 200 * 1024;
const speakers = 20;
const lapSize = 20;
/** The Worker is idle again: the bot has got the recording before. */
const pauseMs = 10;
const mostMemory = 20;

export async function measureVoice(quick: boolean): Promise<Part> {
  const part = partBeside('Voice messages');
  await withRig((rig) => measureRecordings(part, rig, quick ? 8 : 30));
  await withRig((rig) => measureMemory(part, rig));
  return part;
}

const newIds = () => Array.from({ length: speakers }, () => crypto.randomUUID());

function recordingOf(bytes: number): Buffer {
  const recording = randomFillSync(Buffer.alloc(bytes));
  recording.fill(0, 0, 28).write('OggS');
  recording.write('OpusHead', 28);
  return recording;
}

async function measureRecordings(part: Part, rig: Rig, rounds: number): Promise<void> {
  await rig.database(speakers);
  const [solace, bare] = [await rig.conversations(speakers), await rig.bare({ disk: rig.folder() })];
  const [ours, theirs] = [rig.caller(solace), rig.caller(bare)];
  const [bytes, ids] = [recordingOf(usualBytes), newIds()];
  const toObject = (request: Request) => ({ ...request, path: request.path.replace('/api/user/chat/', '/objects/') });
  for (const [index, id] of ids.entries()) {
    const request = await recordingRequest(index, bytes, id);
    await ours.call(request);
    await theirs.call(toObject(request));
  }
  const actions = {
    'send a recording of 200 KiB': (index: number) => recordingRequest(index, bytes),
    'read it': (index: number) => readRecording(index, ids[index]!),
  };
  for (const [what, request] of Object.entries(actions)) {
    const requests = () => Promise.all(Array.from({ length: lapSize }, (_, index) => request(index % speakers)));
    const lanes = {
      ours: async () => ours.lap(await requests(), pauseMs),
      theirs: async () => theirs.lap((await requests()).map(toObject), pauseMs),
    };
    const laps = await inRounds({ rounds, warmUp: Math.ceil(rounds / 3) }, lanes);
    addBeside(part, what, [laps.ours, laps.theirs], { atMost: { p50: 1.5 } });
  }
}

/**
 * The memory of a call with a recording of the largest size: how much the highest resident memory of a fresh process
 * exceeds that before the calls, one alone, or eight at once divided by eight. Garbage and the live object count too.
 */
async function measureMemory(part: Part, rig: Rig): Promise<void> {
  await rig.database(speakers);
  const disk = rig.folder();
  const [bytes, ids] = [recordingOf(largestRecordingBytes), newIds()];
  const calls = {
    'send a recording of 1.9 MB': (index: number) => recordingRequest(index, bytes, ids[index]),
    'read it': (index: number) => readRecording(index, ids[index]!),
    'the bot fetches it': async (index: number) => fetchedRecording(index, ids[index]!),
    'the bot replies with one': async (index: number) => spokenReply(index, bytes),
  };
  for (const [what, request] of Object.entries(calls)) {
    // The users of the eight follow the one, so that each process stores new recordings.
    for (const users of [[0], [1, 2, 3, 4, 5, 6, 7, 8]]) {
      const solace = await rig.conversations(speakers, { disk });
      const mib = await memoryOf(rig, solace, await Promise.all(users.map(request)));
      await solace.stop();
      const name = `memory: ${what}, ${users.length === 1 ? 'alone' : `${users.length} at once, each`}`;
      part.rows.push([`${name}: ${mib.toFixed(1)} MiB`]);
      part.targets.push({ what: name, value: mib, atMost: mostMemory, unit: ' MiB' });
    }
  }
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
