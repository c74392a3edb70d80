import { createStore } from './store.ts';

export type Notice = { type: 'success' | 'error'; title: string; description?: string };

const waiting = createStore<{ notices: readonly Notice[] }>({ notices: [] });

/** Shows a toast; the toaster itself is loaded with the first one. */
export function notify(notice: Notice): void {
  waiting.set({ notices: [...waiting.get().notices, notice] });
}

export const notices = {
  waiting: () => waiting.get().notices,
  subscribe: waiting.subscribe,
  take(): readonly Notice[] {
    const taken = waiting.get().notices;
    if (taken.length > 0) waiting.set({ notices: [] });
    return taken;
  },
};
