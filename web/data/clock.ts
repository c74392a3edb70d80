import { ServerClock } from '../rules/server-clock.ts';

/** For the reader's calendar alone. */
export const deviceNow = () => Date.now();

export const serverClock = new ServerClock(() => performance.now(), deviceNow);

/** Outlives a reload; never jumps while a page is open. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
