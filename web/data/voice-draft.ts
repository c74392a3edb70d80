import { largestRecordingBytes, longestRecordingSeconds } from '#contract/chat-limits';
import { microphoneProblem, type RecordingEnd } from '../rules/recording.ts';
import { sendRecording } from './api-client.ts';
import { conversation } from './chat-conversation.ts';
import { keptInTab } from './kept-in-tab.ts';
import { keepRecording, readRecording } from './kept-recording.ts';
import { player } from './voice-player.ts';
import * as timeLimits from './time-limits.ts';
import { loaded, TimeLimitError, within } from './within.ts';
import type { ActiveRecording } from './recorder.ts';
import { session } from './session.ts';
import { started } from './started.ts';
import { noRecording, voiceStore, type KeptRecording } from './voice-store.ts';

const constraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** The tab keeps it for its person. */
export const voiceDraft = {
  /** In the handler of a click, for the microphone. Records nothing without its panel. */
  async start(token: string, loadPanel: () => Promise<unknown>): Promise<void> {
    if (voiceStore.get().isAsking || voiceStore.get().active) return;
    voiceStore.set({ ...noRecording, token, isAsking: true });
    player.stop();
    const endQuestion = started.add('microphone question', () => voiceStore.set(noRecording));
    let stream: MediaStream | null = null;
    try {
      stream = await askForMicrophone();
      const { ActiveRecording } = await loadRecorder(loadPanel);
      // The page or the session may have ended.
      if (!isAsking(token)) return release(stream);
      const recording: ActiveRecording = new ActiveRecording(
        stream,
        longestRecordingSeconds,
        (recorded, seconds, end) => ended(token, { recorded, seconds, end }),
      );
      voiceStore.set({ isAsking: false, active: recording });
      started.add('recorder', () => void recording.stop('hidden'));
    } catch (error) {
      release(stream);
      if (!isAsking(token)) return;
      voiceStore.set({
        ...noRecording,
        token,
        problem: microphoneProblem(error instanceof DOMException ? error.name : ''),
      });
    } finally {
      endQuestion();
    }
  },

  stop: () => voiceStore.get().active?.stop('person'),

  /** A failed one can be sent again. */
  async send(): Promise<void> {
    await voiceStore.get().active?.stop('person');
    const { token, kept } = voiceStore.get();
    if (!token || !kept || kept.isSending || kept.isTooLarge) return;
    const sending = new AbortController();
    const { signal } = sending;
    voiceStore.set({ kept: { ...kept, isSending: true }, sending, error: null });
    player.stop();
    try {
      const { id, seconds, blob } = kept;
      await conversation.keepSent(token, id, sendRecording(token, { id, seconds }, blob, signal));
      voiceStore.drop(token);
    } catch (error) {
      if (voiceStore.get().kept?.id === kept.id)
        voiceStore.set({
          kept: { ...kept, isSending: false },
          error: signal.aborted ? null : error,
        });
      await conversation.refreshAfter(token, error);
    }
  },

  /** It may still arrive, and once only by its id. */
  stopSending: () => voiceStore.get().sending?.abort(),

  discard(): void {
    player.stop();
    voiceStore.drop(voiceStore.get().token);
  },

  async restore(token: string): Promise<void> {
    const kept = await readRecording(token);
    const { active, isAsking, kept: present } = voiceStore.get();
    if (!kept || active || isAsking || present || session.get().token !== token) return;
    voiceStore.set({ ...noRecording, token, kept });
    voiceStore.settle(conversation.get(token)?.messages ?? []);
  },
};

const isAsking = (token: string) => {
  const draft = voiceStore.get();
  return draft.isAsking && draft.token === token;
};

async function askForMicrophone(): Promise<MediaStream> {
  if (typeof MediaRecorder !== 'function') throw new DOMException('', 'NotSupportedError');
  const asked = navigator.mediaDevices.getUserMedia({ audio: constraints });
  try {
    return await within(timeLimits.permission, asked);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    // Nobody waits for a late permission.
    void asked.then(release, () => null);
    throw new DOMException('', 'TimeoutError');
  }
}

function release(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

async function loadRecorder(loadPanel: () => Promise<unknown>) {
  try {
    const files = Promise.all([import('./recorder.ts'), loadPanel()]);
    const [recorder] = await loaded(files);
    return recorder;
  } catch {
    throw new DOMException('', 'NetworkError');
  }
}

type Ended = { recorded: Blob | 'short' | 'silent'; seconds: number; end: RecordingEnd };

function ended(token: string, { recorded, seconds, end }: Ended): void {
  const isShown = voiceStore.get().token === token;
  if (typeof recorded === 'string') {
    // No advice for whoever has left.
    const problem = end === 'hidden' ? null : recorded;
    if (isShown) voiceStore.set({ ...noRecording, token, problem });
    return;
  }
  const isTooLarge = recorded.size > largestRecordingBytes;
  const id = crypto.randomUUID();
  const kept: KeptRecording = { id, blob: recorded, seconds, end, isSending: false, isTooLarge };
  if (isShown) voiceStore.set({ active: null, kept });
  if (!isTooLarge) void keepRecording(token, kept);
}

if (typeof document !== 'undefined') {
  session.subscribe(() => {
    const { token, active } = voiceStore.get();
    if (token === null || token === session.get().token) return;
    if (keptInTab.wasSignedOut(token)) active?.cancel();
    else void active?.stop('hidden');
    player.stop();
    voiceStore.set(noRecording);
  });
  keptInTab.noteUnfinished(() => voiceStore.get().active !== null);
  // The tab keeps it for a reload, not for its end.
  addEventListener('beforeunload', (event) => {
    if (voiceStore.get().kept && !keptInTab.isReloading()) event.preventDefault();
  });
}
