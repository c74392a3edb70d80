import type { Limit } from './limits.ts';
import { memoize } from './memoize.ts';

const keysKept = 5000;

/** Counts calls by key in the memory of an isolate, exactly and over sliding windows. */
export class CallLimiter {
  readonly #limits: Limit[];
  readonly #longestMs: number;
  /** The instants (unix ms) of the calls of a key that a limit still counts, oldest first. */
  readonly #callsOf = memoize((_key: string): number[] => [], keysKept);

  constructor(limits: Limit[]) {
    this.#limits = limits;
    this.#longestMs = Math.max(...limits.map(({ per }) => per));
  }

  /** Counts a call and returns 0, or returns the instant (unix ms) at which the key may call again. */
  count(key: string, now: number): number {
    const calls = this.#callsOf(key);
    while (calls[0] !== undefined && calls[0] <= now - this.#longestMs) calls.shift();
    const allowedAt = Math.max(...this.#limits.map(({ most, per }) => (calls.at(-most) ?? -Infinity) + per));
    if (allowedAt > now) return allowedAt;
    calls.push(now);
    return 0;
  }

  /** How many calls of a key the longest limit counts at its latest call. */
  counted(key: string): number {
    return this.#callsOf(key).length;
  }

  /** Removes a call that was counted at an instant. */
  giveBack(key: string, at: number): void {
    const calls = this.#callsOf(key);
    const index = calls.lastIndexOf(at);
    if (index >= 0) calls.splice(index, 1);
  }
}
