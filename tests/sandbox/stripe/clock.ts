import type { Store } from './store.ts';

/** Whose time it is: a customer, or '' for everybody. */
export type Scope = string;
export type Clock = ReturnType<typeof createClock>;

/** Stripe's clock: the real time, plus the seconds that passed for everybody, plus those that passed for one customer. */
export function createClock(store: Store) {
  const offsets = new Map<Scope, number>();
  const nameOf = (scope: Scope) => (scope === '' ? 'clock' : `clock:${scope}`);

  /** The part of the offset by which time passed for this scope alone. */
  function own(scope: Scope): number {
    const known =
      offsets.get(scope) ??
      store.get<{ offset: number }>('stripe/meta', nameOf(scope))?.offset ??
      0;
    offsets.set(scope, known);
    return known;
  }
  let heldAt: number | null = null;
  /** The seconds by which a customer's time is ahead of the real one. */
  const offset = (customer: Scope = '') => own('') + (customer === '' ? 0 : own(customer));
  return {
    /** Stripe's time in unix seconds; with a customer, the time of that customer. */
    now: (customer?: Scope) => (heldAt ?? realSeconds()) + offset(customer),
    offset,
    own,
    setOwn(scope: Scope, seconds: number): void {
      offsets.set(scope, seconds);
      store.put('stripe/meta', nameOf(scope), { offset: seconds });
    },
    /** Runs changes while the clock stands still: all that one request changes has one date. */
    held<T>(work: () => T): T {
      heldAt = realSeconds();
      try {
        return work();
      } finally {
        heldAt = null;
      }
    },
  };
}

export const realSeconds = (): number => Math.floor(Date.now() / 1000);

export const day = 86_400;

/** The instant `count` intervals later, in unix seconds; in a shorter month it is the last day. */
export function addInterval(at: number, interval: string, count: number): number {
  if (interval === 'day') return at + count * day;
  if (interval === 'week') return at + count * 7 * day;
  const months = interval === 'year' ? 12 * count : count;
  const date = new Date(at * 1000);
  const dayOfMonth = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months);
  if (date.getUTCDate() !== dayOfMonth) date.setUTCDate(0);
  return date.getTime() / 1000;
}

const calendar = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeZone: 'UTC',
});
/** 21 Nov 2026, as Stripe writes it on invoice lines. */
export const shortDate = (at: number): string => calendar.format(at * 1000);
