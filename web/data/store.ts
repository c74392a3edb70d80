import { Store } from '@tanstack/react-store';
import { KeptValues } from '../rules/kept-values.ts';

/** A store of one object, whose fields change one by one. */
export function createStore<T extends object>(initial: T) {
  const store = new Store(initial);
  return {
    get: () => store.state,
    set: (change: Partial<T>) => store.setState((before) => ({ ...before, ...change })),
    subscribe: (listener: () => void) => store.subscribe(listener).unsubscribe,
  };
}

/** For all tabs and later visits. */
export const storage = /* @__PURE__ */ new KeptValues(() => localStorage);

/** For this tab, through reloads and changes of language. */
export const tabStorage = /* @__PURE__ */ new KeptValues(() => sessionStorage);
