import { readFileSync } from 'node:fs';

/** Calls back when the program that started us, or the one that started that, is gone: npm puts a shell between. */
export function onOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const grandparent = parentOf(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && parentOf(parent) === grandparent) return;
    clearInterval(timer);
    callback();
  }, 500);
  timer.unref();
}

/** Undefined where the system does not tell. */
function parentOf(pid: number): number | undefined {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1);
    return Number(afterName?.split(' ')[1]);
  } catch {
    return undefined;
  }
}
