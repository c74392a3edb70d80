/** The queue of writers: SQLite lets one connection write at a time. */
export class WriteLock {
  #waiting: (() => void)[] = [];

  /** Resolves all waits in their order, since a connection that may have held the lock has ended. */
  released(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves at the next release, or after `ms`, since another process may hold the lock. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
