import { ServerClock } from '../rules/server-clock.ts';

/** Unix ms by the device: what the reader's calendar says, and nothing else. */
export const deviceNow = () => Date.now();

export const serverClock = new ServerClock(() => performance.now(), deviceNow);

/** Milliseconds for durations that outlive a reload. They do not jump while a page is open, but may between two. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
