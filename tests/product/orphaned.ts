import { readFileSync } from 'node:fs';

/** Calls back when the parent or grandparent process has ended, since npm starts programs through a shell. */
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

/** Undefined if the system does not provide it. */
function parentOf(pid: number): number | undefined {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1);
    return Number(afterName?.split(' ')[1]);
  } catch {
    return undefined;
  }
}
