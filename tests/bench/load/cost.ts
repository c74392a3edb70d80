import { cpuMs } from '../rig/process-facts.ts';

/** Adds up the CPU that processes use while measured work runs. */
export class Cost {
  readonly #pids: number[];
  #used: number[] = [];
  #calls = 0;

  constructor(...pids: number[]) {
    this.#pids = pids;
    this.reset();
  }

  reset(): void {
    this.#used = this.#pids.map(() => 0);
    this.#calls = 0;
  }

  /** Runs work that makes so many calls. */
  async of<T>(calls: number, work: () => Promise<T>): Promise<T> {
    let result: T | undefined;
    await this.spend(async () => {
      result = await work();
      return calls;
    });
    return result as T;
  }

  /** Runs work that returns the number of its calls. */
  async spend(work: () => Promise<number>): Promise<void> {
    const before = this.#pids.map(cpuMs);
    this.#calls += await work();
    this.#used = this.#pids.map((pid, index) => this.#used[index]! + cpuMs(pid) - before[index]!);
  }

  /** CPU per call of each process, in ms. */
  perCall(): number[] {
    return this.#used.map((used) => used / this.#calls);
  }
}
