import type { Store } from '../store.ts';

export type Clock = {
  /** Stripe's time in unix seconds. */
  now(): number;
  /** The seconds by which Stripe's clock is ahead of the real one. */
  offset(): number;
  setOffset(seconds: number): void;
};

/** Stripe's clock: the real time plus the seconds by which it was advanced. */
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
