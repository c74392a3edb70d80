import { vi } from 'vitest';

/** Moves the clock of the Worker and of the tests, which share it; `restore.ts` resets it after each test. */
export function advanceClock(ms: number): void {
  const now = Date.now();
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(now + ms);
}

export const second = 1000;
export const minute = 60 * second;
export const day = 24 * 60 * minute;

const deadlineMs = 30_000;
/** Pauses grow, since the calls of a user are limited. */
const longestPauseMs = 500;

/**
 * Probes until the condition holds, and returns the last state. Throws after 30 s, which only a failure reaches: what
 * was awaited, for how long, and the last state.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  condition: (state: Awaited<T>) => unknown = Boolean,
): Promise<Awaited<T>> {
  for (const pauses = pausesMs(); ;) {
    const state = await probe();
    if (condition(state)) return state;
    const { done, value } = pauses.next();
    if (done) throw new Error(`Waited ${deadlineMs / 1000} s for ${what}; last: ${JSON.stringify(state)}`);
    await wait(value);
  }
}

/** Repeats an assertion until it holds; throws its last failure after 30 s. */
export async function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  for (const pauses = pausesMs(); ;) {
    try {
      return await assertion();
    } catch (error) {
      const { done, value } = pauses.next();
      if (done) throw Object.assign(error as Error, { message: `Waited 30 s: ${(error as Error).message}` });
      await wait(value);
    }
  }
}

/** In workerd and in Node. */
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function* pausesMs(): Generator<number, undefined> {
  const deadline = AbortSignal.timeout(deadlineMs);
  for (let ms = 10; !deadline.aborted; ms = Math.min(1.25 * ms, longestPauseMs)) yield ms;
}
