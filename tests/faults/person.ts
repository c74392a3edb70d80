import type { Choices } from './choices.ts';
import { Conversation, type Message } from './chat/conversation.ts';

/** A tab with an open usage stream (`load/follower.ts`). */
export type OpenTab = { readonly total: number | undefined; readonly stream: OpenStream };

/** A tab with an open chat (`chat/chat-follower.ts`). */
export type OpenChat = { readonly connected: boolean; readonly shown: Message[]; readonly stream: OpenStream };

type OpenStream = { readonly opened: number; disconnect(): void; wake(): void; close(): void };

/** An answered usage post. */
export type Post = { id: string; count: number; allowed: boolean; used: number; resetsAt: string };

export const roles = ['talker', 'writer', 'subscriber', 'visitor'] as const;
export type Role = (typeof roles)[number];

/** Somebody, and all that the product has promised them: the ledger that the database must agree with. */
export class Person {
  readonly index: number;
  readonly phone: string;
  readonly role: Role;
  readonly choices: Choices;
  token: string | undefined;
  /** Whether they have begun to delete the account; nobody comes back. */
  left = false;
  /** Every post that was answered, each once, however often it was sent. */
  readonly posts: Post[] = [];
  /** Every change of platform that was answered. */
  readonly platforms: string[] = [];
  /** How many sessions each code that reached the phone has opened. */
  readonly codes = new Map<string, number>();
  trials = 0;
  checkouts = 0;
  readonly followers: OpenTab[] = [];
  readonly conversation = new Conversation();
  readonly chats: OpenChat[] = [];
  /** What they are at; undefined when they are at rest. */
  doing: string | undefined;
  #calls = 0;

  constructor(index: number, role: Role, choices: Choices) {
    this.index = index;
    this.phone = `+1555${String(1_000_000 + index)}`;
    this.role = role;
    this.choices = choices;
  }

  /** A fresh idempotency key. */
  nextId(kind: string): string {
    this.#calls += 1;
    return `${kind}_${this.index}_${this.#calls}`;
  }

  /** Where they call from now. */
  address(): string {
    const part = () => this.choices.between(0, 255);
    return `10.${part()}.${part()}.${part()}`;
  }
}
