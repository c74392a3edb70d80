import { createStore } from './store.ts';

export type Notice = { type: 'success' | 'error'; title: string; description?: string; id?: string };

const queue = createStore<{ notices: readonly Notice[]; withdrawn: readonly string[] }>({ notices: [], withdrawn: [] });

/** Shows a toast. The first one loads the toaster. */
export function notify(notice: Notice): void {
  queue.set({ notices: [...queue.get().notices, notice] });
}

export function withdrawNotice(id: string): void {
  const { notices: waiting, withdrawn } = queue.get();
  queue.set({ notices: waiting.filter((notice) => notice.id !== id), withdrawn: [...withdrawn, id] });
}

export const notices = {
  isWaiting: () => queue.get().notices.length > 0,
  subscribe: queue.subscribe,
  take() {
    const taken = queue.get();
    if (taken.notices.length > 0 || taken.withdrawn.length > 0) queue.set({ notices: [], withdrawn: [] });
    return taken;
  },
};
