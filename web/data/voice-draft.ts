import { largestRecordingBytes, longestRecordingSeconds } from '#contract/chat-limits';
import { microphoneProblem } from '../rules/recording.ts';
import { sendRecording } from './api-client.ts';
import { conversation } from './chat-conversation.ts';
import { player } from './voice-player.ts';
import * as timeLimits from './time-limits.ts';
import { TimeLimitError, within } from './within.ts';
import type { RecordingEnd } from './recorder.ts';
import { session } from './session.ts';
import { noRecording, voiceStore } from './voice-store.ts';

/** Ends the waiting for the response to a recording. */
let sending = new AbortController();

const constraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** The recording being made, or not sent yet: in memory until the session ends; leaving the site asks first. */
export const voiceDraft = {
  /** Call it in the handler of a click: browsers ask for the microphone only then. Without its panel nothing is recorded. */
  async start(token: string, loadPanel: () => Promise<unknown>): Promise<void> {
    if (voiceStore.get().isAsking || voiceStore.get().active) return;
    voiceStore.set({ ...noRecording, token, isAsking: true });
    player.stop();
    let stream: MediaStream | null = null;
    try {
      stream = await askForMicrophone();
      const { ActiveRecording } = await loadRecorder(loadPanel);
      const active = new ActiveRecording(stream, longestRecordingSeconds, ended);
      // The session may have ended meanwhile.
      if (voiceStore.get().token === token) voiceStore.set({ isAsking: false, active });
      else active.cancel();
    } catch (error) {
      release(stream);
      voiceStore.set({
        ...noRecording,
        token,
        problem: microphoneProblem(error instanceof DOMException ? error.name : ''),
      });
    }
  },

  stop: () => voiceStore.get().active?.stop('person'),

  /** Ends the recording, if it still runs, and sends it. A failed one is kept and can be sent again. */
  async send(): Promise<void> {
    await voiceStore.get().active?.stop('person');
    const { token, kept } = voiceStore.get();
    if (!token || !kept || kept.isSending || kept.isTooLarge) return;
    sending = new AbortController();
    const { signal } = sending;
    voiceStore.set({ kept: { ...kept, isSending: true }, error: null });
    player.stop();
    try {
      const { id, seconds, blob } = kept;
      await conversation.keepSent(token, id, sendRecording(token, { id, seconds }, blob, signal));
      clear();
    } catch (error) {
      if (voiceStore.get().kept?.id === kept.id)
        voiceStore.set({
          kept: { ...kept, isSending: false },
          error: signal.aborted ? null : error,
        });
      await conversation.refreshAfter(token, error);
    }
  },

  /** Keeps the recording and waits no longer. It may arrive nevertheless, and once only, since its id stays. */
  stopSending: () => sending.abort(),

  discard(): void {
    voiceStore.get().active?.cancel();
    player.stop();
    clear();
  },
};

async function askForMicrophone(): Promise<MediaStream> {
  if (typeof MediaRecorder !== 'function') throw new DOMException('', 'NotSupportedError');
  const asked = navigator.mediaDevices.getUserMedia({ audio: constraints });
  try {
    return await within(timeLimits.permission, asked);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    // Nobody waits for a permission that comes later.
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
    const [recorder] = await within(timeLimits.file, files);
    return recorder;
  } catch {
    throw new DOMException('', 'NetworkError');
  }
}

function ended(recorded: Blob | 'short' | 'silent', seconds: number, end: RecordingEnd): void {
  const { token } = voiceStore.get();
  if (typeof recorded === 'string')
    return voiceStore.set({ ...noRecording, token, problem: recorded });
  const isTooLarge = recorded.size > largestRecordingBytes;
  voiceStore.set({
    active: null,
    kept: { id: crypto.randomUUID(), blob: recorded, seconds, end, isSending: false, isTooLarge },
  });
}

function clear(): void {
  voiceStore.set(noRecording);
}

if (typeof document !== 'undefined') {
  session.subscribe(() => {
    const { token } = voiceStore.get();
    if (token !== null && token !== session.get().token) voiceDraft.discard();
  });
  addEventListener('beforeunload', (event) => {
    const { active, kept } = voiceStore.get();
    if (active || kept) event.preventDefault();
  });
}
