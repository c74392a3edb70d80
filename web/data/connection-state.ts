import { createStore } from './store.ts';

export type ConnectionStatus = 'closed' | 'connecting' | 'live' | 'reconnecting' | 'lost';

const store = createStore<{ status: ConnectionStatus; attempts: number; counts: number }>({
  // A page that shows the state opens the stream right after its start.
  status: 'connecting',
  attempts: 0,
  counts: 0,
});

/** The state of the live usage stream; `counts` is the number of totals that it has sent. */
export const connectionState = {
  get: store.get,
  subscribe: store.subscribe,
  setStatus: (status: ConnectionStatus, attempts = 0) => store.set({ status, attempts }),
  addCount: () => store.set({ counts: store.get().counts + 1 }),
};
