import { KeptValues } from '../rules/kept-values.ts';

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

/** For all tabs and later visits. */
export const storage = /* @__PURE__ */ new KeptValues(() => localStorage);

/** For this tab, through reloads and changes of language. */
export const tabStorage = /* @__PURE__ */ new KeptValues(() => sessionStorage);
