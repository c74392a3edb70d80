import { longestRecordingSeconds } from '#contract/chat-limits';
import { microphoneProblem, type MicrophoneProblem } from '../rules/recording.ts';
import { sendRecording } from './api-client.ts';
import { conversation } from './chat-conversation.ts';
import { player } from './voice-player.ts';
import type { ActiveRecording, RecordingEnd } from './recorder.ts';
import { session } from './session.ts';
import { createStore } from './store.ts';

/** A recording that is not sent yet. `end` says why it ended, if the person did not end it. */
export type KeptRecording = {
  id: string;
  blob: Blob;
  seconds: number;
  end: RecordingEnd;
  isSending: boolean;
};

type VoiceDraft = {
  token: string | null;
  problem: MicrophoneProblem | null;
  isAsking: boolean;
  active: ActiveRecording | null;
  kept: KeptRecording | null;
  error: unknown;
};

const empty: VoiceDraft = {
  token: null,
  problem: null,
  isAsking: false,
  active: null,
  kept: null,
  error: null,
};
const store = createStore<VoiceDraft>(empty);

const constraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** The recording being made, or not sent yet: in memory until the session ends; leaving the site asks first. */
export const voiceDraft = {
  get: store.get,
  subscribe: store.subscribe,

  /** Call it in the handler of a click: browsers ask for the microphone only then. Without its panel nothing is recorded. */
  async start(token: string, loadPanel: () => Promise<unknown>): Promise<void> {
    if (store.get().isAsking || store.get().active) return;
    store.set({ ...empty, token, isAsking: true });
    player.stop();
    let stream: MediaStream | null = null;
    try {
      stream = await askForMicrophone();
      const { ActiveRecording } = await loadRecorder(loadPanel);
      const active = new ActiveRecording(stream, longestRecordingSeconds, ended);
      // The session may have ended meanwhile.
      if (store.get().token === token) store.set({ isAsking: false, active });
      else active.cancel();
    } catch (error) {
      for (const track of stream?.getTracks() ?? []) track.stop();
      store.set({
        ...empty,
        token,
        problem: microphoneProblem(error instanceof DOMException ? error.name : ''),
      });
    }
  },

  stop: () => store.get().active?.stop('person'),

  /** Ends the recording, if it still runs, and sends it. A failed one is kept and can be sent again. */
  async send(): Promise<void> {
    await store.get().active?.stop('person');
    const { token, kept } = store.get();
    if (!token || !kept || kept.isSending) return;
    store.set({ kept: { ...kept, isSending: true }, error: null });
    player.stop();
    try {
      const { id, seconds, blob } = kept;
      await conversation.keepSent(token, id, sendRecording(token, { id, seconds }, blob));
      clear();
    } catch (error) {
      if (store.get().kept?.id === kept.id)
        store.set({ kept: { ...kept, isSending: false }, error });
      await conversation.refreshAfter(token, error);
    }
  },

  discard(): void {
    store.get().active?.cancel();
    player.stop();
    clear();
  },
};

async function askForMicrophone(): Promise<MediaStream> {
  if (typeof MediaRecorder !== 'function') throw new DOMException('', 'NotSupportedError');
  return navigator.mediaDevices.getUserMedia({ audio: constraints });
}

async function loadRecorder(loadPanel: () => Promise<unknown>) {
  try {
    const [recorder] = await Promise.all([import('./recorder.ts'), loadPanel()]);
    return recorder;
  } catch {
    throw new DOMException('', 'NetworkError');
  }
}

function ended(recorded: Blob | 'short' | 'silent', seconds: number, end: RecordingEnd): void {
  const { token } = store.get();
  if (typeof recorded === 'string') return store.set({ ...empty, token, problem: recorded });
  store.set({
    active: null,
    kept: { id: crypto.randomUUID(), blob: recorded, seconds, end, isSending: false },
  });
}

function clear(): void {
  store.set(empty);
}

if (typeof document !== 'undefined') {
  session.subscribe(() => {
    const { token } = store.get();
    if (token !== null && token !== session.get().token) voiceDraft.discard();
  });
  addEventListener('beforeunload', (event) => {
    const { active, kept } = store.get();
    if (active || kept) event.preventDefault();
  });
}
