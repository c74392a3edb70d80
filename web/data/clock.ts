import { ServerClock } from '../rules/server-clock.ts';

/** Unix ms by the device: what the reader's calendar says, and nothing else. */
export const deviceNow = () => Date.now();

export const serverClock = new ServerClock(() => performance.now(), deviceNow);
