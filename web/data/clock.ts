import { ServerClock } from '../rules/server-clock.ts';

export const serverClock = new ServerClock(
  () => performance.now(),
  () => Date.now(),
);
