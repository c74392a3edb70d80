import type { Store } from '../store.ts';

/** Whose time it is: a customer, or '' for everybody. */
export type Scope = string;
export type Clock = {
  /** Stripe's time in unix seconds; with a customer, the time of that customer. */
  now(customer?: Scope): number;
  /** The seconds by which a customer's time is ahead of the real one. */
  offset(customer?: Scope): number;
  /** The part of the offset by which time passed for this scope alone. */
  own(scope: Scope): number;
  setOwn(scope: Scope, seconds: number): void;
};

/** Stripe's clock: the real time, plus the seconds that passed for everybody, plus those that passed for one customer. */
export function createClock(store: Store): Clock {
  const offsets = new Map<Scope, number>();
  const nameOf = (scope: Scope) => (scope === '' ? 'clock' : `clock:${scope}`);

  function own(scope: Scope): number {
    const known = offsets.get(scope) ?? store.get<{ offset: number }>('stripe/meta', nameOf(scope))?.offset ?? 0;
    offsets.set(scope, known);
    return known;
  }
  const offset = (customer: Scope = '') => own('') + (customer === '' ? 0 : own(customer));
  return {
    now: (customer) => realSeconds() + offset(customer),
    offset,
    own,
    setOwn(scope, seconds) {
      offsets.set(scope, seconds);
      store.put('stripe/meta', nameOf(scope), { offset: seconds });
    },
  };
}

export function realSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
