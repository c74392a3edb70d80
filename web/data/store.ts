import { Store } from '@tanstack/react-store';
import { KeptValues } from '../rules/kept-values.ts';

export function createStore<T extends object>(initial: T) {
  const store = new Store(initial);
  return {
    get: () => store.state,
    set: (change: Partial<T>) => store.setState((before) => ({ ...before, ...change })),
    subscribe: (listener: () => void) => store.subscribe(listener).unsubscribe,
  };
}

/** Values for all tabs and visits. */
export const storage = /* @__PURE__ */ new KeptValues(() => localStorage);

/** Values for this tab, which reloads keep. */
export const tabStorage = /* @__PURE__ */ new KeptValues(() => sessionStorage);
