import { createStore } from '../data/store.ts';

const store = createStore<{ text: string | null }>({ text: null });

/** The text of the window's first uncaught error; null while there is none. */
export const uncaughtError = {
  get: () => store.get().text,
  subscribe: store.subscribe,
};

/** Listens before the app starts, so that early errors are caught too. */
export function watchUncaughtErrors(): void {
  addEventListener('error', ({ message, error }) => {
    // Browsers report a `ResizeObserver` loop as an error, which is harmless.
    if (message.startsWith('ResizeObserver loop') || store.get().text !== null) return;
    store.set({ text: error instanceof Error ? error.message : message });
  });
}
