import { createStore } from '../store.ts';

export type FeedState = 'closed' | 'connecting' | 'live' | 'reconnecting' | 'lost';

const store = createStore<{ state: FeedState; seen: number; attempts: number }>({
  state: 'closed',
  seen: 0,
  attempts: 0,
});

/** How the live usage stream is doing; `seen` counts the totals that it has told. */
export const usageFeed = {
  get: store.get,
  subscribe: store.subscribe,
  seen: () => store.get().seen,
  state: (state: FeedState, attempts = 0) => store.set({ state, attempts }),
  sawCount: () => store.set({ seen: store.get().seen + 1 }),
};
