import { createStore } from './store.ts';

const signs = createStore({ count: 0 });

/** Tells listeners that the connection works, which any response shows. */
export const signsOfLife = {
  note: () => signs.set({ count: signs.get().count + 1 }),
  subscribe: signs.subscribe,
};
