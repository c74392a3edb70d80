import { createStore } from './store.ts';

export type Toast = {
  type: 'success' | 'error';
  title: string;
  description?: string;
  id?: string;
  /** Only a reload of the page helps. */
  reloads?: boolean;
};

const queue = createStore<{ toasts: readonly Toast[]; withdrawn: readonly string[] }>({
  toasts: [],
  withdrawn: [],
});

/** The id of the toast that a session has ended, which the next session withdraws. */
export const endedToast = 'session-ended';

export function showToast(toast: Toast): void {
  queue.set({ toasts: [...queue.get().toasts, toast] });
}

export function withdrawToast(id: string): void {
  const { toasts: waiting, withdrawn } = queue.get();
  queue.set({ toasts: waiting.filter((toast) => toast.id !== id), withdrawn: [...withdrawn, id] });
}

export const toasts = {
  isWaiting: () => queue.get().toasts.length > 0,
  subscribe: queue.subscribe,
  take() {
    const taken = queue.get();
    if (taken.toasts.length > 0 || taken.withdrawn.length > 0)
      queue.set({ toasts: [], withdrawn: [] });
    return taken;
  },
};
