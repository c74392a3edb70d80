import { createStore } from '../data/store.ts';

const store = createStore<{ text: string | null }>({ text: null });

/** The text of the first error of the window that nobody caught; null while there is none. */
export const uncaughtError = {
  get: () => store.get().text,
  subscribe: store.subscribe,
};

/** Listens from the very start, so that no error is too early. */
export function watchUncaughtErrors(): void {
  addEventListener('error', ({ message, error }) => {
    // Browsers report a layout that needed two rounds as an error; nothing is broken then.
    if (message.startsWith('ResizeObserver loop') || store.get().text !== null) return;
    store.set({ text: error instanceof Error ? error.message : message });
  });
}
