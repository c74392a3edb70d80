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

/** Repeats an assertion until it holds; throws its last failure after 100 s, which only a failure reaches. */
export async function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(100 * second);
  // Pauses grow, since the calls of a user are limited.
  for (let pauseMs = 10; ; pauseMs = Math.min(1.25 * pauseMs, 500)) {
    try {
      return await assertion();
    } catch (error) {
      if (deadline.aborted)
        throw Object.assign(error as Error, {
          message: `Waited 100 s: ${(error as Error).message}`,
        });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Probes until the condition holds, and returns the last state; throws it after 100 s, with what was awaited. */
export const until = <T>(
  what: string,
  probe: () => T | Promise<T>,
  condition: (state: T) => unknown = Boolean,
) =>
  eventually(async () => {
    const state = await probe();
    if (!condition(state)) throw new Error(`${what}; last: ${JSON.stringify(state)}`);
    return state;
  });
