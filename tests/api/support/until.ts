const pauseMs = 20;

/**
 * Probes until the condition holds, and returns the last state. Throws after `deadlineMs`: what was awaited, for how
 * long, and the last state. Only a failure reaches the deadline, so it is generous.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  condition: (state: Awaited<T>) => unknown = Boolean,
  deadlineMs = 30_000,
): Promise<Awaited<T>> {
  const deadline = AbortSignal.timeout(deadlineMs);
  for (;;) {
    const state = await probe();
    if (condition(state)) return state;
    if (deadline.aborted) throw new Error(`Waited ${deadlineMs / 1000} s for ${what}; last: ${JSON.stringify(state)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
