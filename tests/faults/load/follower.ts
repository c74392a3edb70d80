import { setTimeout as sleep } from 'node:timers/promises';
import { readMessage } from '../../../web/rules/read-message.ts';
import { reconnectDelay } from '../../../web/rules/reconnect-delay.ts';
import { readEvents } from '../../api/support/read-events.ts';
import type { OpenTab, Person } from '../person.ts';
import type { World } from '../world.ts';

/** A tab with an open usage stream, which comes back by the site's rule when it breaks. */
export class Follower implements OpenTab {
  /** The last total that the stream told; undefined while it is not open. */
  total: number | undefined;
  opened = 0;
  readonly #world: World;
  readonly #person: Person;
  readonly #closed = new AbortController();
  #connection = new AbortController();
  #attempts = 0;
  #pause = new AbortController();

  constructor(world: World, person: Person) {
    this.#world = world;
    this.#person = person;
    void this.#follow();
  }

  /** The page is loaded again. */
  reload(): void {
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

  async #follow(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#connect().catch(() => undefined);
      this.total = undefined;
      this.#attempts += 1;
      // Who has lost the stream for good looks at the tab again some time and gets five tries more.
      const delay = reconnectDelay(this.#attempts);
      if (delay === null) this.#attempts = 0;
      this.#pause = new AbortController();
      const signal = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
      await sleep(delay ?? 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  async #connect(): Promise<void> {
    const { site } = this.#world;
    const { token } = this.#person;
    const { body } = await site.call('stream ticket', 'POST', '/api/user/stream-ticket', { token });
    if (!body.ticket) return;
    this.#connection = new AbortController();
    const url = `${site.url}/api/user/usage-stream?token=${encodeURIComponent(body.ticket)}`;
    const response = await fetch(url, { signal: this.#connection.signal });
    const failure = response.ok ? null : `http_${response.status}`;
    this.#world.figures.answered('stream opened', failure);
    if (!response.ok || !response.body) return;
    await this.#read(response.body);
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#attempts = 0;
    this.opened += 1;
    for await (const { event, data } of readEvents(body)) {
      const message = event || !data ? null : readMessage(data);
      if (message?.type === 'usageUpdate') this.total = message.count;
    }
  }
}
