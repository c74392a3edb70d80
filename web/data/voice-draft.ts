import { largestRecordingBytes, longestRecordingSeconds } from '#contract/chat-limits';
import { microphoneWords } from '#words/voice';
import type { RecordingEnd } from '../rules/recording.ts';
import { sendRecording } from './api-client.ts';
import { markNotified } from './api-error.ts';
import { conversationStore } from './conversation-store.ts';
import { keptInTab } from './kept-in-tab.ts';
import { readRecording, RecordingKeeper } from './kept-recording.ts';
import {
  askForMicrophone,
  microphoneErrorText,
  microphoneProblemText,
  releaseMicrophone,
  willAskForMicrophone,
} from './microphone.ts';
import { voicePlayer } from './voice-player.ts';
import { loadInTime } from './promise-limit.ts';
import type { ActiveRecording } from './recorder.ts';
import { session } from './session.ts';
import { runningWork } from './running-work.ts';
import { noRecording, voiceStore, type KeptRecording } from './voice-store.ts';

export const voiceDraft = {
  /** Starts a recording; call it in a click's handler. Without its panel it records nothing. */
  async start(token: string, loadPanel: () => Promise<unknown>): Promise<void> {
    if (voiceStore.get().isAsking || voiceStore.get().active) return;

    voiceStore.set({ ...noRecording, token, isAsking: true });
    voicePlayer.stop();
    const endQuestion = runningWork.add('microphone question', () => voiceStore.set(noRecording));
    let stream: MediaStream | null = null;

    try {
      void announceQuestion(token);
      stream = await askForMicrophone();
      voiceStore.set({ question: null });
      const { ActiveRecording } = await loadRecorder(loadPanel);
      // The page or the session may have ended.
      if (isAsking(token)) record(ActiveRecording, stream, token);
      else releaseMicrophone(stream);
    } catch (error) {
      releaseMicrophone(stream);
      if (isAsking(token))
        voiceStore.set({ ...noRecording, token, problem: microphoneErrorText(error) });
    } finally {
      endQuestion();
    }
  },

  stop: () => voiceStore.get().active?.stop('person'),

  /** Sends the recording; after a failure it can be sent again. */
  async send(): Promise<void> {
    await voiceStore.get().active?.stop('person');
    const { token, kept } = voiceStore.get();
    if (!token || !kept || kept.isSending || kept.isTooLarge) return;

    const sending = new AbortController();
    voiceStore.set({ kept: { ...kept, isSending: true }, sending, error: null });
    voicePlayer.stop();
    try {
      await sendKept(token, kept, sending.signal);
      voiceStore.drop(token);
    } catch (error) {
      markNotified(error);
      showFailure(kept, sending.signal.aborted ? null : error);
      await conversationStore.refreshAfter(token, error);
    }
  },

  /** Ends the sending. The recording may still arrive, once only by its id. */
  stopSending: () => voiceStore.get().sending?.abort(),

  discard(): void {
    voicePlayer.stop();
    voiceStore.drop(voiceStore.get().token);
  },

  restore(token: string): void {
    const { active, isAsking, kept: present } = voiceStore.get();
    const isInUse = active !== null || isAsking || present !== null;
    if (isInUse || session.get().token !== token) return;
    const kept = readRecording(token);
    if (!kept) return;
    voiceStore.set({ ...noRecording, token, kept });
    voiceStore.settle(conversationStore.get(token)?.messages ?? []);
  },
};

async function sendKept(token: string, kept: KeptRecording, signal: AbortSignal): Promise<void> {
  const { id, seconds, blob } = kept;
  const sent = sendRecording(token, { id, seconds }, blob, signal);
  await conversationStore.storeSent(token, id, sent);
}

function showFailure(kept: KeptRecording, error: unknown): void {
  if (voiceStore.get().kept?.id !== kept.id) return;
  voiceStore.set({ kept: { ...kept, isSending: false }, error });
}

const isAsking = (token: string) => {
  const draft = voiceStore.get();
  return draft.isAsking && draft.token === token;
};

async function announceQuestion(token: string): Promise<void> {
  const isAsked = await willAskForMicrophone();
  if (isAsked && isAsking(token)) voiceStore.set({ question: microphoneWords.asking });
}

async function loadRecorder(loadPanel: () => Promise<unknown>) {
  try {
    const files = Promise.all([import('./recorder.ts'), loadPanel()]);
    const [recorder] = await loadInTime(files);
    return recorder;
  } catch {
    throw new DOMException('', 'NetworkError');
  }
}

function record(Recording: typeof ActiveRecording, stream: MediaStream, token: string): void {
  const keeper = new RecordingKeeper({ token, id: crypto.randomUUID() });
  const recording = new Recording(stream, longestRecordingSeconds, {
    onSlice: (slice, seconds) => void keepSlice(keeper, slice, seconds),
    onEnd: (recorded, seconds, end) => void finish(keeper, { recorded, seconds, end }),
  });
  keeper.begin();
  voiceStore.set({ isAsking: false, active: recording });
  runningWork.add('recorder', () => void recording.stop('hidden'));
}

type Ended = { recorded: Blob | 'short' | 'silent'; seconds: number; end: RecordingEnd };

/** Takes over what was recorded, or says why there is nothing. */
async function finish(keeper: RecordingKeeper, { recorded, seconds, end }: Ended): Promise<void> {
  if (typeof recorded === 'string') return dropUnusable(keeper, recorded, end);

  const { token, id } = keeper.owner;
  const isTooLarge = recorded.size > largestRecordingBytes;
  const kept: KeptRecording = { id, blob: recorded, seconds, end, isSending: false, isTooLarge };
  if (voiceStore.get().token === token) voiceStore.set({ active: null, kept });

  if (isTooLarge) return keeper.drop();
  noteKept(keeper, await keeper.keepWhole(kept));
}

function dropUnusable(
  keeper: RecordingKeeper,
  reason: 'short' | 'silent',
  end: RecordingEnd,
): void {
  const { token } = keeper.owner;
  keeper.drop();
  if (voiceStore.get().token !== token) return;

  // A person who has left gets no advice.
  const problem = end === 'hidden' ? null : microphoneProblemText(reason);
  voiceStore.set({ ...noRecording, token, problem });
}

async function keepSlice(keeper: RecordingKeeper, slice: Blob, seconds: number): Promise<void> {
  if (!(await keeper.keepSlice(slice, seconds))) noteKept(keeper, false);
}

function noteKept({ owner }: RecordingKeeper, isKept: boolean): void {
  if (voiceStore.get().token === owner.token) voiceStore.set({ isUnkept: !isKept });
}

if (typeof document !== 'undefined') {
  session.subscribe(() => {
    const { token, active } = voiceStore.get();
    if (token === null || token === session.get().token) return;
    if (keptInTab.wasSignedOut(token)) active?.cancel();
    else void active?.stop('hidden');
    voicePlayer.stop();
    voiceStore.set(noRecording);
  });
  keptInTab.noteUnfinished(() => voiceStore.get().active !== null);
  // The tab keeps it for a reload, not for its end.
  addEventListener('beforeunload', (event) => {
    if (voiceStore.get().kept && !keptInTab.isReloading()) event.preventDefault();
  });
}
