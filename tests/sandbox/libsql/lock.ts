/** SQLite lets one connection write at a time; those that find it taken wait here. */
export class WriteLock {
  #waiting: (() => void)[] = [];

  /** Something ended that may have held the lock: everyone tries again, first come first. */
  released(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves at the next release, or after `ms` in case a program beside us holds the file. */
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
