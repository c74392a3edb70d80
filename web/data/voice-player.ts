import { ApiError } from './api-error.ts';
import * as timeLimits from './time-limits.ts';
import { within } from './promise-limit.ts';
import { session } from './session.ts';
import { runningWork } from './running-work.ts';
import { createStore } from './store.ts';

export const speeds = [1, 1.5, 2] as const;
export type Speed = (typeof speeds)[number];

/** `failed`: cannot be played; `unreached`: could not be fetched. */
export type PlayState = 'loading' | 'playing' | 'paused' | 'failed' | 'unreached';

type Playback = {
  token: string | null;
  audio: HTMLAudioElement | null;
  key: string | null;
  state: PlayState;
  positionSeconds: number;
  speed: Speed;
};

const stopped = { key: null, state: 'paused', positionSeconds: 0 } as const;
const store = createStore<Playback>({
  ...stopped,
  // This file loads with the first recording, so somebody has signed in.
  token: session.get().token,
  audio: null,
  speed: 1,
});

const addresses = new Map<string, string>();
const mostKept = 5;

export const voicePlayer = {
  get: store.get,
  subscribe: store.subscribe,

  /** Plays or pauses. Call it in a click's handler: browsers play nothing by themselves. */
  async toggle(key: string, load: () => Promise<Blob>): Promise<void> {
    const { audio, key: current, state, positionSeconds } = store.get();
    if (current === key && state === 'playing') return audio?.pause();
    if (current === key && state === 'loading') return voicePlayer.stop();

    const from = current === key ? positionSeconds : 0;
    audio?.pause();
    runningWork.add('player', () => voicePlayer.stop());
    store.set({ key, state: 'loading', positionSeconds: from });

    try {
      const address = addresses.get(key) ?? keep(key, await load());
      if (store.get().key === key) await play(address, from);
    } catch (error) {
      if (store.get().key === key) store.set({ state: stateAfter(error) });
    }
  },

  seek(key: string, position: number): void {
    const { audio, key: current } = store.get();
    if (current !== key) {
      audio?.pause();
      store.set({ key, state: 'paused' });
    } else if (audio && audio.src === addresses.get(key)) audio.currentTime = position;
    store.set({ positionSeconds: position });
  },

  changeSpeed(): void {
    const { audio, speed } = store.get();
    const next = speeds[(speeds.indexOf(speed) + 1) % speeds.length] ?? 1;
    store.set({ speed: next });
    if (audio) audio.playbackRate = next;
  },

  stop(): void {
    store.get().audio?.pause();
    store.set(stopped);
  },
};

const blockedPlays = ['NotAllowedError', 'AbortError'];

/** Loading may take longer than a click counts: the next click plays at once. */
function stateAfter(error: unknown): PlayState {
  if (error instanceof DOMException && blockedPlays.includes(error.name)) return 'paused';
  return error instanceof ApiError && error.isOutage ? 'unreached' : 'failed';
}

async function play(address: string, from: number): Promise<void> {
  const audio = store.get().audio ?? createAudio();
  if (audio.src !== address) audio.src = address;
  if (Math.abs(audio.currentTime - from) > 0.5) audio.currentTime = from;
  audio.playbackRate = store.get().speed;
  await within(timeLimits.browserMs, audio.play());
}

function createAudio(): HTMLAudioElement {
  const created = new Audio();

  created.addEventListener('playing', () => store.set({ state: 'playing' }));
  created.addEventListener('pause', () => {
    if (store.get().state === 'playing') store.set({ state: 'paused' });
  });
  created.addEventListener('timeupdate', () => {
    if (store.get().state === 'playing') store.set({ positionSeconds: created.currentTime });
  });
  // No other event says in every browser that it cannot be decoded.
  created.addEventListener('error', () => {
    if (isUnplayable(created.error)) store.set({ state: 'failed' });
  });
  created.addEventListener('ended', () => {
    created.currentTime = 0;
    store.set({ state: 'paused', positionSeconds: 0 });
  });

  store.set({ audio: created });
  return created;
}

/** Whether a recording cannot be decoded. A missing sound card is an error, too, and may pass. */
const isUnplayable = (error: MediaError | null) =>
  error?.code === MediaError.MEDIA_ERR_DECODE ||
  error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED;

function keep(key: string, blob: Blob): string {
  const address = URL.createObjectURL(blob);
  addresses.set(key, address);
  for (const oldest of [...addresses.keys()].slice(0, -mostKept)) drop(oldest);
  return address;
}

function drop(key: string): void {
  URL.revokeObjectURL(addresses.get(key) ?? '');
  addresses.delete(key);
}

session.subscribe(() => {
  const { token: now } = session.get();
  if (now === store.get().token) return;
  store.set({ token: now });
  voicePlayer.stop();
  for (const key of addresses.keys()) drop(key);
});
