/** A tab with an open usage stream (`load/streams.ts`). */
export type OpenTab = { readonly total: number | undefined; readonly stream: OpenStream };

/** A tab with an open chat (`load/chat-follower.ts`). */
export type OpenChat = { readonly connected: boolean; readonly shown: Message[]; readonly stream: OpenStream };

type OpenStream = { readonly opened: number; disconnect(): void; wake(): void; close(): void };

/** A usage post with a response. */
export type Post = { id: string; count: number; allowed: boolean; used: number; resetsAt: string };

const roles = ['talker', 'writer', 'subscriber', 'visitor'] as const;
export type Role = (typeof roles)[number];

/** A user, and everything that the product has confirmed to them; the database must agree with it. */
export class Person {
  readonly index: number;
  readonly phone: string;
  readonly role: Role;
  readonly choices: Choices;
  /** The token of the newest session. */
  token: string | undefined;
  /** The tokens of all sessions that the user has not begun to end. */
  readonly sessions = new Set<string>();
  /** Whether the user has begun to delete the account; nobody returns afterwards. */
  left = false;
  /** Every post with a response, each once, however often it was sent. */
  readonly posts: Post[] = [];
  /** Every confirmed change of the platform. */
  readonly platforms: string[] = [];
  /** The number of sessions that each received code has opened. */
  readonly codes = new Map<string, number>();
  trials = 0;
  checkouts = 0;
  readonly followers: OpenTab[] = [];
  readonly conversation = new Conversation();
  readonly chats: OpenChat[] = [];
  /** The current action; undefined between actions. */
  doing: string | undefined;
  #calls = 0;

  constructor(index: number, role: Role, choices: Choices) {
    this.index = index;
    this.phone = `+1555${String(1_000_000 + index)}`;
    this.role = role;
    this.choices = choices;
  }

  signedIn(token: string): void {
    this.token = token;
    this.sessions.add(token);
  }

  /** The user begins to end the newest session, or all of them: from now on, their calls may get 401. */
  endSessions(everywhere: boolean): void {
    if (everywhere) this.sessions.clear();
    else this.sessions.delete(this.token!);
  }

  /** A fresh idempotency key. */
  nextId(kind: string): string {
    this.#calls += 1;
    return `${kind}_${this.index}_${this.#calls}`;
  }

  /** A random address for the next call. */
  address(): string {
    const part = () => this.choices.between(0, 255);
    return `10.${part()}.${part()}.${part()}`;
  }
}

/** A message as the API returns it. */
export type Message = {
  id: string;
  seq: number;
  author: 'user' | 'solace';
  text: string;
  state: string;
  voice?: Voice;
};

export type Voice = { seconds: number; type: string; bytes: number };
export type Recording = Omit<Voice, 'bytes'> & { bytes: Buffer };

/** Everything that the product has confirmed to one user about the conversation. */
export class Conversation {
  consented = false;
  /** Messages that got a 200 since the last clearing. */
  readonly accepted = new Map<string, Message>();
  /** Every message that was sent, whatever the response was: a lost response may hide a stored message. */
  readonly attempted = new Set<string>();
  /** The recordings of messages and replies, by their ids, whether they were accepted or not. */
  readonly recordings = new Map<string, Recording>();
  /** When a message was first sent, and when it was accepted (`performance.now()`). */
  readonly sentAt = new Map<string, number>();
  readonly acceptedAt = new Map<string, number>();
  /** Messages that were sent again after they had failed: the bot gets them out of order. */
  readonly resent = new Set<string>();
  /** Messages that a clearing removed. */
  readonly cleared = new Set<string>();
  /** Messages that are being sent. */
  readonly inFlight = new Set<string>();
  /** Messages that were in flight during a clearing: it removed them, or they were stored after it. */
  readonly overlapping = new Set<string>();
  /** Replies that this suite wrote as the bot, in the order in which they were accepted since the last clearing. */
  readonly replies: Message[] = [];
  /** When the last clearing had a response, in unix ms. */
  clearedAt = 0;

  /** Messages that a clearing that begins now certainly removes. */
  beginClearing(): Set<string> {
    return new Set([...this.attempted].filter((id) => !this.inFlight.has(id)));
  }

  /** Confirms a clearing that has removed these messages. */
  clear(removed: Set<string>): void {
    for (const id of this.attempted) {
      if (removed.has(id)) this.cleared.add(id);
      else this.overlapping.add(id);
    }
    this.accepted.clear();
    this.replies.length = 0;
    this.clearedAt = Date.now();
  }
}

/** Random choices that depend on a seed alone (mulberry32). */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0 and less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!;
  }

  /** One of the names, with the probability of its weight. */
  weighted<Name extends string>(weights: Partial<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    return entries.at(-1)![0];
  }

  /** A separate sequence for a concurrent actor, so that other actors do not change it. */
  fork(): Choices {
    return new Choices(this.between(0, 2 ** 32 - 1));
  }
}
