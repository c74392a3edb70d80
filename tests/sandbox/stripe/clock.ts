import type { Store } from '../store.ts';

export type Clock = {
  /** Stripe's time in unix seconds. */
  now(): number;
  /** How far Stripe's time runs ahead of ours, in seconds. */
  offset(): number;
  setOffset(seconds: number): void;
};

/** Stripe's time: ours, and as many seconds more as it was advanced by. */
export function createClock(store: Store): Clock {
  let offset = store.get<{ offset: number }>('stripe/meta', 'clock')?.offset ?? 0;
  return {
    now: () => realSeconds() + offset,
    offset: () => offset,
    setOffset(seconds) {
      offset = seconds;
      store.put('stripe/meta', 'clock', { offset });
    },
  };
}

export function realSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
