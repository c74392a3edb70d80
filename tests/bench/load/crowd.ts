import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, type Request, tokenOf } from './request.ts';
import { residentKb, type Running } from '../rig/workerd.ts';

export type Stream = { user: number; url: string };

const atOnce = 25;
/** A usage update, or a message whose text begins with its number. */
const counted = /"usageUpdate","count":(-?\d+)|"text":"(\d+)/;

/** Many open streams in one process, and how long each count took to arrive. */
export class Crowd {
  /** The times (ms) from the post of a count to its arrival at one stream. */
  readonly latencies: number[] = [];
  readonly #sent = new Map<string, number>();
  readonly #answers: IncomingMessage[] = [];

  /** Opens the streams; resolves when each has received its first event. */
  static async open(streams: Stream[]): Promise<Crowd> {
    const crowd = new Crowd();
    const waiting = [...streams];
    const open = async () => {
      for (let stream = waiting.pop(); stream; stream = waiting.pop()) await crowd.#open(stream);
    };
    await Promise.all(Array.from({ length: atOnce }, open));
    return crowd;
  }

  /** Records that a count is posted now. */
  posted(user: number, count: number): void {
    this.#sent.set(`${user} ${count}`, performance.now());
  }

  close(): void {
    for (const answer of this.#answers) answer.destroy();
  }

  #open({ user, url }: Stream): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = get(url, { agent: false }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`A stream answered ${answer.statusCode}`));
        this.#answers.push(answer);
        this.#read(user, answer, resolve);
      });
      request.on('error', reject);
    });
  }

  #read(user: number, answer: IncomingMessage, opened: () => void): void {
    let rest = '';
    answer.setEncoding('utf8').on('error', () => undefined);
    answer.on('data', (text: string) => {
      opened();
      const frames = (rest + text).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) this.#take(user, frame);
    });
  }

  #take(user: number, frame: string): void {
    const count = counted.exec(frame)?.slice(1).find(Boolean);
    const sent = count && this.#sent.get(`${user} ${count}`);
    if (sent) this.latencies.push(performance.now() - sent);
  }
}

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

// As a program, it holds streams open until it is killed, to measure what abandoned streams leave.
if (process.argv[1] === import.meta.filename) {
  process.once('message', (streams: Stream[]) => {
    void Crowd.open(streams).then(() => process.send!('open'));
  });
  process.once('disconnect', () => process.exit());
}

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
