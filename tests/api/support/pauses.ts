import { vi } from 'vitest';

/** The Worker's pauses are a tenth as long until the test ends, and in the same order. */
export function shortenPauses(): void {
  const real = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, 'wait').mockImplementation((ms, options) => real(ms / 10, options));
}
