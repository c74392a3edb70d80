import type { RecordingEnd } from '../rules/recording.ts';
import type { ActiveRecording } from './recorder.ts';
import { keptInTab } from './kept-in-tab.ts';
import { createStore } from './store.ts';

/** A finished recording. `end` says why it ended, if not by the person. */
export type KeptRecording = {
  id: string;
  blob: Blob;
  seconds: number;
  end: RecordingEnd;
  isSending: boolean;
  isTooLarge: boolean;
};

export type VoiceDraft = {
  token: string | null;
  /** A sentence. */
  problem: string | null;
  isAsking: boolean;
  /** A sentence, while the browser asks. */
  question: string | null;
  active: ActiveRecording | null;
  kept: KeptRecording | null;
  /** A reload would lose some of it. */
  isUnkept: boolean;
  sending: AbortController | null;
  error: unknown;
};

export const noRecording: VoiceDraft = {
  token: null,
  problem: null,
  isAsking: false,
  question: null,
  active: null,
  kept: null,
  isUnkept: false,
  sending: null,
  error: null,
};
/** The state of the recording. `voice-draft.ts`, which changes it, loads later. */
export const voiceStore = {
  ...createStore<VoiceDraft>(noRecording),

  /** Removes a recording that arrived although the response was lost. */
  settle(arrived: readonly { id: string }[]): void {
    const { kept, token } = voiceStore.get();
    if (kept && arrived.some(({ id }) => id === kept.id)) voiceStore.drop(token);
  },

  /** Drops the recording, also from the tab. */
  drop(token: string | null): void {
    voiceStore.get().active?.cancel();
    keptInTab.remove('recording', token);
    keptInTab.remove('slice', token);
    voiceStore.set(noRecording);
  },
};
