import type { ChatMessage } from '#contract/chat-schemas';

/** A tab with a stream that reconnects (`load/streams.ts`). */
type Tab = {
  readonly opened: number;
  readonly isOpen: boolean;
  disconnect(): void;
  wake(): void;
  close(): void;
};
type UsageTab = Tab & { readonly total: number | undefined };
type ChatTab = Tab & { readonly shown: readonly ChatMessage[] };

export type Post = {
  id: string;
  count: number;
  allowed: boolean;
  used: number;
  resetsAt: string;
};
export type Role = 'talker' | 'writer' | 'subscriber' | 'visitor';

/** A user, and everything that the product has confirmed to them; the database must agree with it. */
export class Person {
  readonly index: number;
  readonly phone: string;
  readonly role: Role;
  readonly choices: Choices;
  token: string | undefined;
  /** The tokens of all sessions that the user has not begun to end. */
  readonly sessions = new Set<string>();
  /** Whether the user has begun to delete the account; nobody returns afterwards. */
  left = false;
  /** Every post with a response, each once, however often it was sent. */
  readonly posts: Post[] = [];
  readonly platforms: string[] = [];
  /** The number of sessions that each received code has opened. */
  readonly codes = new Map<string, number>();
  trials = 0;
  checkouts = 0;
  planPages = 0;
  readonly followers: UsageTab[] = [];
  readonly conversation = new Conversation();
  readonly chats: ChatTab[] = [];
  doing: string | undefined;
  #calls = 0;

  constructor(index: number, role: Role, choices: Choices) {
    this.index = index;
    this.phone = `+1555${String(1_000_000 + index)}`;
    this.role = role;
    this.choices = choices;
  }

  get tabs(): Tab[] {
    return [...this.chats, ...this.followers];
  }

  signedIn(token: string): void {
    this.token = token;
    this.sessions.add(token);
  }

  nextId(kind: string): string {
    this.#calls += 1;
    return `${kind}_${this.index}_${this.#calls}`;
  }

  /** Every id that a call of this kind may have had. */
  idsOf(kind: string): string[] {
    return Array.from({ length: this.#calls }, (_, index) => `${kind}_${this.index}_${index + 1}`);
  }

  address(): string {
    const part = () => this.choices.between(0, 255);
    return `10.${part()}.${part()}.${part()}`;
  }
}

export type Message = Omit<ChatMessage, 'at'>;
export type Recording = {
  seconds: number;
  type: string;
  bytes: Buffer;
};

/** A message that the user sent, whatever the response was: a lost response may hide a stored message. */
export type Sent = {
  id: string;
  text: string;
  recording?: Recording | undefined;
  /** When it was first sent, and when it was accepted (`performance.now()`). */
  sentAt: number;
  acceptedAt?: number;
  /** The message in a 200, unless a clearing may have removed it. */
  accepted?: Message | undefined;
  isInFlight: boolean;
  /** Sent again after it had failed: the bot gets it out of order. */
  isResent?: true;
  /** What a clearing did to it; one in flight was removed, or stored after the clearing. */
  clearing?: 'removed' | 'overlapped';
};

export class Conversation {
  consented = false;
  readonly sent = new Map<string, Sent>();
  /** Replies that this suite wrote as the bot, in the order in which they were accepted since the last clearing. */
  readonly replies: (Message & { recording: Recording | undefined })[] = [];
  /** When the last clearing had a response, in unix ms. */
  clearedAt = 0;

  get accepted(): Message[] {
    return [...this.sent.values()].flatMap(({ accepted }) => accepted ?? []);
  }

  /** Begins a clearing, which certainly removes all messages but those in flight; returns what confirms it. */
  beginClearing(): () => void {
    const removed = new Set([...this.sent.values()].filter(({ isInFlight }) => !isInFlight));
    return () => {
      for (const sent of this.sent.values()) {
        sent.clearing = removed.has(sent) ? 'removed' : 'overlapped';
        sent.accepted = undefined;
      }
      this.replies.length = 0;
      this.clearedAt = Date.now();
    };
  }
}

/** Random choices that depend on a seed alone (mulberry32). */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!;
  }

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
