import type { MicrophoneProblem, RecordingEnd } from '../rules/recording.ts';
import type { ActiveRecording } from './recorder.ts';
import { keptInTab } from './kept-in-tab.ts';
import { createStore } from './store.ts';

/** A recording that is not sent yet. `end` says why it ended, if the person did not end it. */
export type KeptRecording = {
  id: string;
  blob: Blob;
  seconds: number;
  end: RecordingEnd;
  isSending: boolean;
  /** The server takes no recording of this size, however often it is sent. */
  isTooLarge: boolean;
};

export type VoiceDraft = {
  token: string | null;
  problem: MicrophoneProblem | null;
  isAsking: boolean;
  active: ActiveRecording | null;
  kept: KeptRecording | null;
  /** Ends the waiting for the response to a recording. */
  sending: AbortController | null;
  error: unknown;
};

export const noRecording: VoiceDraft = {
  token: null,
  problem: null,
  isAsking: false,
  active: null,
  kept: null,
  sending: null,
  error: null,
};
/** The recording being made, or not sent yet. What is done with it loads after the conversation. */
export const voiceStore = {
  ...createStore<VoiceDraft>(noRecording),

  /** Drops a recording that has arrived although its response was lost. */
  settle(arrived: readonly { id: string }[]): void {
    const { kept, token } = voiceStore.get();
    if (kept && arrived.some(({ id }) => id === kept.id)) voiceStore.drop(token);
  },

  /** Ends and removes the recording, also from the tab. */
  drop(token: string | null): void {
    voiceStore.get().active?.cancel();
    keptInTab.remove('recording', token);
    voiceStore.set(noRecording);
  },
};
