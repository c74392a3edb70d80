import { setTimeout as sleep } from 'node:timers/promises';
import { readEvent, reconnectDelay } from '../../../web/rules/stream-events.ts';
import type { Person, OpenTab } from '../person.ts';
import type { World } from '../world.ts';
import { readEvents } from '../../api/support/read-events.ts';

/** Opens a stream once and resolves when it ends; calls `opened` when the server has accepted it. */
type Connect = (signal: AbortSignal, opened: () => void) => Promise<void>;

/** Keeps a stream open until it is closed, and reconnects by the website's rule. */
export class ReconnectingStream {
  /** How often the server has accepted the stream. */
  opened = 0;
  readonly #closed = new AbortController();
  #connection = new AbortController();
  #pause = new AbortController();
  #attempts = 0;

  constructor(connect: Connect) {
    void this.#keepOpen(connect);
  }

  /** Breaks the connection; the next one follows after the usual pause. */
  disconnect(): void {
    this.#connection.abort();
  }

  /** As when somebody returns to the tab: ends the pause before the next connection. */
  wake(): void {
    this.#attempts = 0;
    this.#pause.abort();
  }

  close(): void {
    this.#closed.abort();
    this.#connection.abort();
  }

  async #keepOpen(connect: Connect): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#connection = new AbortController();
      await connect(this.#connection.signal, () => this.#accepted()).catch(() => undefined);
      this.#attempts += 1;
      // The website gives up after its last attempt; the person then returns to the tab, which starts the attempts
      // again.
      const delay = reconnectDelay(this.#attempts);
      if (delay === null) this.#attempts = 0;
      this.#pause = new AbortController();
      const signal = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
      await sleep(delay ?? 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  #accepted(): void {
    this.#attempts = 0;
    this.opened += 1;
  }
}

/** Opens a stream with a ticket and returns its body; null when the server refuses. `query` follows the ticket. */
export async function openStream(
  { site, figures }: World,
  { token }: Person,
  { name, path, query = '' }: { name: string; path: string; query?: string },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | null> {
  const { body } = await site.call('stream ticket', 'POST', '/api/user/stream-ticket', { token });
  if (!body.ticket) return null;
  const url = `${site.url}${path}?token=${encodeURIComponent(body.ticket)}${query}`;
  const response = await fetch(url, { signal });
  figures.answered(name, response.ok ? null : `http_${response.status}`);
  return response.ok ? response.body : null;
}

/** A tab with an open usage stream. */
export class Follower implements OpenTab {
  /** The last total that the stream sent; undefined while the stream is not open. */
  total: number | undefined;
  readonly stream: ReconnectingStream;
  readonly #world: World;
  readonly #person: Person;

  constructor(world: World, person: Person) {
    this.#world = world;
    this.#person = person;
    this.stream = new ReconnectingStream((signal, opened) =>
      this.#connect(signal, opened).finally(() => (this.total = undefined)),
    );
  }

  async #connect(signal: AbortSignal, opened: () => void): Promise<void> {
    const request = { name: 'stream opened', path: '/api/user/usage-stream' };
    const body = await openStream(this.#world, this.#person, request, signal);
    if (!body) return;
    opened();
    for await (const { event, data } of readEvents(body)) {
      const message = event || !data ? null : readEvent(data);
      if (message?.type === 'usageUpdate') this.total = message.count;
    }
  }
}
