import { readFileSync } from 'node:fs';

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
