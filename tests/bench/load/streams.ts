import { setTimeout as sleep } from 'node:timers/promises';
import { residentKb } from '../rig/process-facts.ts';
import type { Running } from '../rig/workerd.ts';
import { Crowd, type Stream } from './crowd.ts';
import { tokenOf } from './request.ts';

export const users = 100;
/** As many as one user may have. */
export const streamsEach = 10;

export type UrlOf = (running: Running, user: number) => Promise<string>;

export const solaceUrl: UrlOf = async ({ url }, user) => `${url}/api/user/usage-stream?token=${await tokenOf(user)}`;
export const bareUrl: UrlOf = async ({ url }, user) => `${url}/streams/${user}`;

type Group = { firstUser: number; users: number; urlOf: UrlOf };

/** The streams of so many users, each user as often as it has streams. */
export async function streamsOf(running: Running, { firstUser, users, urlOf }: Group): Promise<Stream[]> {
  const urls = await Promise.all(Array.from({ length: users }, (_, index) => urlOf(running, firstUser + index)));
  return urls.flatMap((url, index) => Array.from({ length: streamsEach }, () => ({ user: firstUser + index, url })));
}

/** Opens the streams and returns the memory of each in the process, in KB, without the setup cost of the first ones. */
export async function openWeighed(running: Running, streams: Stream[]): Promise<{ crowd: Crowd; kbPerStream: number }> {
  for (let round = 0; round < 3; round += 1) {
    const passing = await Crowd.open(streams.slice(0, 100));
    passing.close();
    await sleep(300);
  }
  const before = residentKb(running.pid);
  const crowd = await Crowd.open(streams);
  await sleep(1000);
  return { crowd, kbPerStream: (residentKb(running.pid) - before) / streams.length };
}
