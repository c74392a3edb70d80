import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The resident memory (`VmRSS`) of a process in KB, or the highest since `resetPeak` (`VmHWM`). */
export function memoryKb(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** Sets the peak of a process to its present memory (proc(5), `clear_refs`). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

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
