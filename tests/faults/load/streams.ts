import { setTimeout as sleep } from 'node:timers/promises';
import { readEvent, reconnectDelay } from '../../../web/rules/stream-events.ts';
import type { Person, OpenTab, OpenChat, Message } from '../person.ts';
import type { World } from '../rig.ts';
import { readEvents } from '../../api/support/read-events.ts';
import type { Answer, Site } from '../site.ts';

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
async function openStream(
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

type Change =
  | { type: 'message'; message: Message }
  | { type: 'state'; upTo: number; state: string }
  | { type: 'cleared' }
  | { type: 'reset' };

/** A tab with an open chat: reads the page once, follows the stream, and resumes it after the last revision. */
export class ChatFollower implements OpenChat {
  /** By `seq`. */
  readonly messages = new Map<number, Message>();
  connected = false;
  readonly stream: ReconnectingStream;
  readonly #world: World;
  readonly #person: Person;
  #revision: number | undefined;

  constructor(world: World, person: Person) {
    this.#world = world;
    this.#person = person;
    this.stream = new ReconnectingStream((signal, opened) =>
      this.#connect(signal, opened).finally(() => (this.connected = false)),
    );
  }

  /** What the tab shows: the messages in their order. */
  get shown(): Message[] {
    return [...this.messages.values()].toSorted((a, b) => a.seq - b.seq);
  }

  async #connect(signal: AbortSignal, opened: () => void): Promise<void> {
    if (this.#revision === undefined && !(await this.#readPage())) return;
    const request = { name: 'chat stream opened', path: '/api/user/chat-stream', query: `&after=${this.#revision}` };
    const body = await openStream(this.#world, this.#person, request, signal);
    if (!body) return;
    opened();
    this.connected = true;
    await this.#read(body);
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

  /** A resumed stream sends each change after the last revision once: no revision arrives twice. */
  #checkRevision(revision: number): void {
    const { phone } = this.#person;
    if (revision <= this.#revision!) this.#world.seen.push(`${phone}: revision ${revision} arrived twice`);
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
      this.#world.seen.push(`${this.#person.phone}: ${known.id} and ${message.id} have the same seq`);
    this.messages.set(message.seq, message);
  }
}

const perPage = 50;

/** The whole conversation, oldest first, with the revision of its newest page; null when a call failed. */
export async function readPage(site: Site, token: string): Promise<{ revision: number; messages: Message[] } | null> {
  const newest = await page(site, token, '');
  if (newest.status !== 200) return null;
  const messages: Message[] = newest.body.messages;
  let { hasMore } = newest.body;
  while (hasMore) {
    const older = await page(site, token, `&before=${messages[0]!.seq}`);
    if (older.status !== 200) return null;
    messages.unshift(...older.body.messages);
    ({ hasMore } = older.body);
  }
  return { revision: newest.body.revision, messages };
}

function page(site: Site, token: string, before: string): Promise<Answer> {
  return site.call('chat page', 'GET', `/api/user/chat?limit=${perPage}${before}`, { token });
}
