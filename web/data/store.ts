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

/** Storage that does not throw if the browser blocks it. */
const storageIn = (area: () => Storage) => ({
  read: (key: string) => quietly(() => area().getItem(key)),
  write: (key: string, value: string) => quietly(() => area().setItem(key, value)),
  remove: (key: string) => quietly(() => area().removeItem(key)),
});

export const storage = storageIn(() => localStorage);
/** What this tab keeps over a reload. */
export const tabStorage = storageIn(() => sessionStorage);

function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
