/** A value that notifies its listeners of changes. */
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

/** Local storage that does not throw if the browser blocks it. */
export const storage = {
  read: (key: string) => quietly(() => localStorage.getItem(key)),
  write: (key: string, value: string) => quietly(() => localStorage.setItem(key, value)),
  remove: (key: string) => quietly(() => localStorage.removeItem(key)),
};

function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
