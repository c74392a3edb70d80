import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import type { Crowd } from './crowd.ts';
import type { Request } from './request.ts';

const postsPerSecond = 50;
const patienceMs = 3000;

/** Users with open streams, and how to post for one of them. */
export type Audience = {
  caller: Caller;
  crowd: Crowd;
  firstUser: number;
  /** The current count of each user. */
  counts: number[];
  streamsEach: number;
  post: (user: number, count: number) => Request;
};

export type Delivered = { latencies: number[]; lost: number };

/** Posts for each user in turn at an even pace; waits until everything has arrived, or a timeout. */
export async function paced(audience: Audience, seconds: number): Promise<Delivered> {
  const { caller, crowd, counts, firstUser, post, streamsEach } = audience;
  const posts = seconds * postsPerSecond;
  crowd.latencies.length = 0;
  const begun = performance.now();
  const answers: Promise<string>[] = [];
  for (let index = 0; index < posts; index += 1) {
    await sleep(Math.max(0, begun + (index * 1000) / postsPerSecond - performance.now()));
    const user = index % counts.length;
    counts[user]! += 1;
    const request = post(firstUser + user, counts[user]!);
    crowd.posted(firstUser + user, counts[user]!);
    answers.push(caller.call(request));
  }
  await Promise.all(answers);
  const expected = posts * streamsEach;
  const patience = performance.now() + patienceMs;
  while (crowd.latencies.length < expected && performance.now() < patience) await sleep(20);
  return { latencies: [...crowd.latencies], lost: expected - crowd.latencies.length };
}
