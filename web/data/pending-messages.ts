import type { PendingMessage } from '../rules/shown-messages.ts';
import { createStore } from './store.ts';

type Draft = { token: string | null; text: string; pending: readonly PendingMessage[] };

const store = createStore<Draft>({ token: null, text: '', pending: [] });

/**
 * The draft and the unsent messages of one session. They stay in memory while the user visits other pages, and are
 * not stored, since other people may use the device.
 */
export const drafts = {
  get: store.get,
  subscribe: store.subscribe,
  /** Clears them for another session. */
  open(token: string): void {
    if (store.get().token !== token) store.set({ token, text: '', pending: [] });
  },
  write: (text: string) => store.set({ text }),
  add(message: PendingMessage): void {
    store.set({ pending: [...store.get().pending, message] });
  },
  mark(id: string, state: PendingMessage['state']): void {
    store.set({ pending: store.get().pending.map((one) => (one.id === id ? { ...one, state } : one)) });
  },
  remove(id: string): void {
    store.set({ pending: store.get().pending.filter((one) => one.id !== id) });
  },
};
