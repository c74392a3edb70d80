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
