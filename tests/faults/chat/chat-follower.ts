import { setTimeout as sleep } from 'node:timers/promises';
import { reconnectDelay } from '../../../web/rules/reconnect-delay.ts';
import { readEvents } from '../../api/support/read-events.ts';
import type { Person } from '../person.ts';
import type { World } from '../world.ts';
import type { Message } from './conversation.ts';
import { readPage } from './read-page.ts';

type Change =
  | { type: 'message'; message: Message }
  | { type: 'state'; upTo: number; state: string }
  | { type: 'cleared' }
  | { type: 'reset' };

/** A tab with an open chat: reads the page once, follows the stream, and resumes it where it broke. */
export class ChatFollower {
  /** By `seq`. */
  readonly messages = new Map<number, Message>();
  connected = false;
  opened = 0;
  readonly #world: World;
  readonly #person: Person;
  readonly #closed = new AbortController();
  #connection = new AbortController();
  #revision: number | undefined;
  #attempts = 0;
  #pause = new AbortController();

  constructor(world: World, person: Person) {
    this.#world = world;
    this.#person = person;
    void this.#follow();
  }

  /** The connection breaks; the next one resumes after the last revision. */
  disconnect(): void {
    this.#connection.abort();
  }

  /** Somebody looks at the tab: a pause before the next connection ends. */
  wake(): void {
    this.#attempts = 0;
    this.#pause.abort();
  }

  close(): void {
    this.#closed.abort();
    this.#connection.abort();
  }

  /** What the tab shows: the messages in their order. */
  get shown(): Message[] {
    return [...this.messages.values()].toSorted((a, b) => a.seq - b.seq);
  }

  async #follow(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#connect().catch(() => undefined);
      this.connected = false;
      this.#attempts += 1;
      const delay = reconnectDelay(this.#attempts);
      if (delay === null) this.#attempts = 0;
      this.#pause = new AbortController();
      const signal = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
      await sleep(delay ?? 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  async #connect(): Promise<void> {
    const { site, figures } = this.#world;
    const { token } = this.#person;
    if (this.#revision === undefined && !(await this.#readPage())) return;
    const { body } = await site.call('stream ticket', 'POST', '/api/user/stream-ticket', { token });
    if (!body.ticket) return;
    this.#connection = new AbortController();
    const url = `${site.url}/api/user/chat-stream?token=${encodeURIComponent(body.ticket)}&after=${this.#revision}`;
    const response = await fetch(url, { signal: this.#connection.signal });
    figures.answered('chat stream opened', response.ok ? null : `http_${response.status}`);
    if (response.ok && response.body) await this.#read(response.body);
  }

  async #readPage(): Promise<boolean> {
    const page = await readPage(this.#world.site, this.#person.token!);
    if (!page) return false;
    this.messages.clear();
    for (const message of page.messages) this.messages.set(message.seq, message);
    this.#revision = page.revision;
    return true;
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#attempts = 0;
    this.opened += 1;
    this.connected = true;
    for await (const { id, event, data } of readEvents(body)) {
      if (event || !data || id === undefined) continue;
      const change = JSON.parse(data) as Change;
      if (change.type === 'reset') {
        this.#revision = undefined;
        return;
      }
      this.#checkRevision(Number(id));
      this.#apply(change);
    }
  }

  /** A resumed stream sends what changed after the last revision, once: no revision comes twice. */
  #checkRevision(revision: number): void {
    const { phone } = this.#person;
    if (revision <= this.#revision!) this.#world.seen.push(`${phone}: revision ${revision} came twice`);
    this.#revision = revision;
  }

  #apply(change: Change): void {
    if (change.type === 'cleared') this.messages.clear();
    if (change.type === 'message') this.#show(change.message);
    if (change.type === 'state') {
      for (const message of this.messages.values()) {
        if (message.author === 'user' && message.seq <= change.upTo && message.state === 'sent')
          message.state = change.state;
      }
    }
  }

  #show(message: Message): void {
    const known = this.messages.get(message.seq);
    if (known && known.id !== message.id)
      this.#world.seen.push(`${this.#person.phone}: ${known.id} and ${message.id} have one place`);
    this.messages.set(message.seq, message);
  }
}
