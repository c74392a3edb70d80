import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addBeside,
  inParallel,
  inRounds,
  type Pair,
  type Part,
  sum,
  memoryKb,
} from '../measurement.ts';
import type { Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';
import { type Request, tokenOf } from './request.ts';

export type Stream = { user: number; url: string };
const atOnce = 25;
/** A usage update, or a message whose text begins with its number. */
const counted = /"usageUpdate","count":(-?\d+)|"text":"(\d+)/;

/** Many open streams in one process, and how long each count took to arrive. */
class Crowd {
  /** The times (ms) from the post of a count to its arrival at one stream. */
  readonly latencies: number[] = [];
  readonly #sent = new Map<string, number>();
  readonly #answers: IncomingMessage[] = [];

  /** Opens the streams; resolves when each has received its first event. */
  static async open(streams: Stream[]): Promise<Crowd> {
    const crowd = new Crowd();
    await inParallel(atOnce, streams, (stream) => crowd.#open(stream));
    return crowd;
  }

  posted(user: number, count: number): void {
    this.#sent.set(`${user} ${count}`, performance.now());
  }

  async until(arrivals: number, patienceMs: number): Promise<void> {
    const begun = performance.now();
    while (this.latencies.length < arrivals && performance.now() - begun < patienceMs)
      await sleep(10);
  }

  close(): void {
    for (const answer of this.#answers) answer.destroy();
  }

  async #open({ user, url }: Stream): Promise<void> {
    const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`A stream answered ${answer.statusCode}`);
    this.#answers.push(answer);
    let rest = '';
    answer.setEncoding('utf8').on('error', () => undefined);
    answer.on('data', (text: string) => {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) this.#take(user, frame);
    });
    await once(answer, 'data');
  }

  #take(user: number, frame: string): void {
    const count = counted.exec(frame)?.slice(1).find(Boolean);
    const sent = count && this.#sent.get(`${user} ${count}`);
    if (sent) this.latencies.push(performance.now() - sent);
  }
}

/** As many as one user may have. */
export const streamsEach = 10;

export async function solaceUrl(
  { url }: Running,
  user: number,
  name = 'usage-stream',
): Promise<string> {
  return `${url}/api/user/${name}?token=${await tokenOf(user)}`;
}

type Group = {
  users: number;
  firstUser?: number;
  each?: number;
  urlOf: (user: number) => string | Promise<string>;
};

export async function streamsOf({
  users,
  firstUser = 0,
  each = streamsEach,
  urlOf,
}: Group): Promise<Stream[]> {
  const numbers = Array.from({ length: users }, (_, index) => firstUser + index);
  const streams = await Promise.all(
    numbers.map(async (user) => ({ user, url: await urlOf(user) })),
  );
  return streams.flatMap((stream) => Array.from({ length: each }, () => stream));
}

/** How to post the next count of a user; `from` is that of each user at the beginning. */
type Posts = {
  from: number;
  post: (user: number, count: number) => Request;
};

/** Users with open streams, and the memory of each stream in the process, in KB. */
export type Audience = Awaited<ReturnType<typeof openAudience>>;

export async function openAudience(
  rig: Rig,
  running: Running,
  { from, post, ...group }: Group & Posts,
) {
  const { users, firstUser = 0 } = group;
  const streams = await streamsOf(group);
  // The first streams cost memory that all share.
  for (let round = 0; round < 3; round += 1) {
    (await Crowd.open(streams.slice(0, 100))).close();
    await sleep(300);
  }
  const before = memoryKb(running.pid);
  const crowd = await Crowd.open(streams);
  await sleep(1000);
  const kbPerStream = (memoryKb(running.pid) - before) / streams.length;
  const counts = Array.from({ length: users }, () => from);
  const caller = rig.caller(running, 8);
  const postNext = async (index: number) => {
    counts[index]! += 1;
    const [user, count] = [firstUser + index, counts[index]!];
    const request = post(user, count);
    crowd.posted(user, count);
    await caller.call(request);
  };
  return { crowd, streams, kbPerStream, users, postNext };
}

export type Delivery = {
  rounds: number;
  warmUp: number;
  seconds: number;
  atMost?: { p50: number; p95: number };
};

export async function addDelivery(
  part: Part,
  what: string,
  [ours, theirs]: Pair<Audience>,
  delivery: Delivery,
) {
  const { rounds, warmUp, seconds, ...more } = delivery;
  const lanes = {
    ours: () => paced(ours, seconds),
    theirs: () => paced(theirs, seconds),
  };
  const laps = await inRounds({ rounds, warmUp }, lanes);
  for (const { crowd } of [ours, theirs]) crowd.close();
  const times = [laps.ours, laps.theirs].map((lane) => lane.map(({ latencies }) => latencies));
  addBeside(part, what, times as Pair<number[][]>, more);
  part.targets.push({
    what: `${what}: lost`,
    value: sum(laps.ours.map(({ lost }) => lost)),
    atMost: 0,
  });
}

const postsPerSecond = 50;

/** Posts for each user in turn at an even pace; waits until everything has arrived, or a timeout. */
async function paced({ crowd, streams, users, postNext }: Audience, seconds: number) {
  const posts = seconds * postsPerSecond;
  crowd.latencies.length = 0;
  const begun = performance.now();
  const answers: Promise<void>[] = [];
  for (let index = 0; index < posts; index += 1) {
    await sleep(Math.max(0, begun + (index * 1000) / postsPerSecond - performance.now()));
    answers.push(postNext(index % users));
  }
  await Promise.all(answers);
  const expected = (posts * streams.length) / users;
  await crowd.until(expected, 3000);
  return {
    latencies: [...crowd.latencies],
    lost: expected - crowd.latencies.length,
  };
}

// As a program, it holds streams open until it is killed, to measure what abandoned streams leave.
if (process.argv[1] === import.meta.filename) {
  process.once('message', (streams: Stream[]) => {
    void Crowd.open(streams).then(() => process.send!('open'));
  });
  process.once('disconnect', () => process.exit());
}
