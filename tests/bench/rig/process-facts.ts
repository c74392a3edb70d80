import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** The single child process of a process group. */
export function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

/** The resident memory of a process, in KB. */
export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** CPU that a process has used so far in all its threads, in ms. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** The open files and sockets of a process. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Starts measuring; the returned function gives the share (0 to 1) of CPU time that the host has stolen since. */
export function measureStealTime(): () => number {
  const before = ticks();
  return () => {
    const spent = ticks().map((count, index) => count - before[index]!);
    const all = spent.reduce((sum, count) => sum + count, 0);
    return all === 0 ? 0 : spent.at(-1)! / all;
  };
}

/** User, nice, system, idle, iowait, irq, softirq and steal, of all processors, in ticks since the start. */
function ticks(): number[] {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/);
  return fields.slice(0, 8).map(Number);
}

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
