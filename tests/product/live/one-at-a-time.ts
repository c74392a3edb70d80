/** Runs work one at a time: calls during a run share one run after it. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let present = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= present
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        present = work();
        return present;
      });
    return next;
  };
}
