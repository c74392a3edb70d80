export type Store<T> = {
  get: () => T;
  set: (change: Partial<T>) => void;
  subscribe: (listener: () => void) => () => void;
};

export function createStore<T extends object>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(change) {
      value = { ...value, ...change };
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Storage that does not throw if the browser blocks it. */
const storageIn = (area: () => Storage) => ({
  read: (key: string) => quietly(() => area().getItem(key)),
  write: (key: string, value: string) => quietly(() => area().setItem(key, value)),
  remove: (key: string) => quietly(() => area().removeItem(key)),
});

export const storage = storageIn(() => localStorage);
export const tabStorage = storageIn(() => sessionStorage);

/** What somebody has written and not sent, stored in this tab while a change of language loads the page anew. */
export const unsentText = {
  /** Stores what `read` returns at a click that changes the language, unless it is empty. Returns what ends this. */
  keep(key: string, read: () => string): () => void {
    // A click that opens another tab or window keeps this page.
    const store = ({ target, ctrlKey, metaKey, shiftKey }: MouseEvent) => {
      if (
        ctrlKey ||
        metaKey ||
        shiftKey ||
        !(target instanceof Element && target.closest('a[hreflang]'))
      )
        return;
      const text = read();
      if (text) tabStorage.write(key, text);
    };
    addEventListener('click', store);
    return () => removeEventListener('click', store);
  },
  /** The stored text, which is then no longer stored; null if there is none. */
  take(key: string): string | null {
    const text = tabStorage.read(key);
    tabStorage.remove(key);
    return text;
  },
};

function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
