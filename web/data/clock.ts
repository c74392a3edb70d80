import { ServerClock } from '../rules/server-clock.ts';

/** The device's time, for the reader's calendar alone. */
export const deviceNow = () => Date.now();

export const serverClock = /* @__PURE__ */ new ServerClock(() => performance.now(), deviceNow);

/** Returns a time (ms) that goes on through a reload, and never jumps while a page is open. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
