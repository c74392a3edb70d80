import { createStore } from './store.ts';

export type Toast = {
  type: 'success' | 'error';
  title: string;
  description?: string;
  id?: string;
  /** Only a reload of the page helps. */
  reloads?: boolean;
};

const queue = createStore<{ toasts: readonly Toast[]; dismissed: readonly string[] }>({
  toasts: [],
  dismissed: [],
});

/** The id of the toast that a session has ended, which the next session dismisses. */
export const endedToast = 'session-ended';

export function showToast(toast: Toast): void {
  queue.set({ toasts: [...queue.get().toasts, toast] });
}

export function dismissToast(id: string): void {
  const { toasts: waiting, dismissed } = queue.get();
  queue.set({ toasts: waiting.filter((toast) => toast.id !== id), dismissed: [...dismissed, id] });
}

export const toasts = {
  isWaiting: () => queue.get().toasts.length > 0,
  subscribe: queue.subscribe,
  take() {
    const taken = queue.get();
    if (taken.toasts.length > 0 || taken.dismissed.length > 0)
      queue.set({ toasts: [], dismissed: [] });
    return taken;
  },
};
