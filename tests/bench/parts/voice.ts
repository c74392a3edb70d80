import { randomFillSync } from 'node:crypto';
import { largestRecordingBytes } from '#contract/chat-limits';
import { fetchedRecording, readRecording, recordingRequest, spokenReply, type Request } from '../load/request.ts';
import type { Part } from '../report.ts';
import { memoryKb, resetPeak } from '../rig/processes.ts';
import type { Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

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
  const part: Part = { title: 'Memory of a call with a recording of 1.9 MB', header, rows: [], targets: [] };
  for (const [what, request] of Object.entries(calls)) {
    const row: (string | number)[] = [what];
    // The users of the eight follow the one, so that each process stores new recordings.
    for (const users of [[0], [1, 2, 3, 4, 5, 6, 7, 8]]) {
      const solace = await rig.conversations(speakers, { disk });
      const value = await memoryOf(rig, solace, await Promise.all(users.map(request)));
      await solace.stop();
      row.push(value);
      part.targets.push({ what: `${what}, ${users.length} at once`, value, atMost: mostMemory, unit: ' MiB' });
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
