import { readEvents } from '../../api/support/read-events.ts';
import type { OpenChat, Person, Message } from '../person.ts';
import { openStream, ReconnectingStream } from './streams.ts';
import type { World } from '../world.ts';
import type { Answer, Site } from '../site.ts';

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
