import { setTimeout as sleep } from 'node:timers/promises';
import { pageRoutes } from '#contract/routes';
import type { ChatPage } from '#contract/chat-schemas';
import {
  applyEvent,
  conversationOf,
  type Conversation,
} from '../../../web/rules/conversation-changes.ts';
import { isUsage, readEvent, reconnectDelay } from '../../../web/rules/stream-events.ts';
import { readEvents } from '../../api/support/read-events.ts';
import type { Person } from '../person.ts';
import type { World } from '../rig.ts';
import type { Site } from '../site.ts';

type LiveEvent = NonNullable<ReturnType<typeof readEvent>>;

/** A tab with a stream, which reconnects by the website's rule until it is closed. */
abstract class Tab {
  /** How often the server has accepted the stream. */
  opened = 0;
  isOpen = false;
  protected readonly world: World;
  protected readonly person: Person;
  readonly #closed = new AbortController();
  #connection = new AbortController();
  #pause = new AbortController();
  #attempts = 0;

  constructor(world: World, person: Person) {
    this.world = world;
    this.person = person;
  }

  protected abstract readonly route: 'usageStream' | 'chatStream';

  /** What the address of the next connection tells the server; null if the tab cannot connect now. */
  protected abstract query(): Promise<Record<string, string> | null>;

  protected abstract receive(event: LiveEvent, id: string | undefined): void;

  open(): this {
    void this.#keepOpen();
    return this;
  }

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

  async #keepOpen(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#connection = new AbortController();
      await this.#connect(this.#connection.signal).catch(() => undefined);
      this.isOpen = false;
      this.#attempts += 1;
      // After its last attempt the website gives up, until the person returns to the tab.
      const delay = reconnectDelay(this.#attempts);
      if (delay === null) this.#attempts = 0;
      this.#pause = new AbortController();
      const signal = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
      await sleep(delay ?? 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { site, figures } = this.world;
    const query = await this.query();
    if (!query) return;
    const { token } = this.person;
    const { body } = await site.call('streamTicket', { token });
    if (!body.ticket) return;
    const search = new URLSearchParams({ token: body.ticket, ...query });
    const response = await fetch(`${site.url}${pageRoutes[this.route].path}?${search}`, { signal });
    figures.answered(this.route, response.ok ? null : `http_${response.status}`);
    if (!response.ok) return;
    this.#attempts = 0;
    this.opened += 1;
    this.isOpen = true;
    for await (const { id, event, data } of readEvents(response.body!)) {
      const message = event || !data ? null : readEvent(data);
      if (message) this.receive(message, id);
    }
  }
}

export class Follower extends Tab {
  total: number | undefined;
  protected readonly route = 'usageStream';

  protected async query() {
    this.total = undefined;
    return {};
  }

  protected receive(event: LiveEvent): void {
    if (event.type === 'usageUpdate') this.total = event.count;
  }
}

/** A tab with an open chat: reads the page once, follows the stream, and resumes it after the last revision. */
export class ChatFollower extends Tab {
  #conversation: Conversation | null = null;
  protected readonly route = 'chatStream';

  get shown(): Conversation['messages'] {
    return this.#conversation?.messages ?? [];
  }

  protected async query() {
    this.#conversation ??= await readPage(this.world.site, this.person.token!);
    return this.#conversation && { after: String(this.#conversation.revision) };
  }

  protected receive(event: LiveEvent, id: string | undefined): void {
    if (isUsage(event) || id === undefined || !this.#conversation) return;
    if (event.type === 'reset') {
      this.#conversation = null;
      this.disconnect();
      return;
    }
    // A resumed stream sends each change after the last revision once.
    if (Number(id) <= this.#conversation.revision) this.#complain(`revision ${id} arrived twice`);
    this.#conversation = applyEvent(this.#conversation, event, Number(id));
    if (new Set(this.shown.map(({ seq }) => seq)).size < this.shown.length)
      this.#complain('two messages of one seq');
  }

  #complain(what: string): void {
    this.world.seen.push(`${this.person.phone}: ${what}`);
  }
}

/** The whole conversation, with the revision of its newest page; null when a call failed. */
export async function readPage(site: Site, token: string): Promise<Conversation | null> {
  let read: Conversation | undefined;
  do {
    const query: Record<string, string> = read ? { before: String(read.messages[0]!.seq) } : {};
    const { status, body } = await site.call('getChat', { token, query });
    if (status !== 200) return null;
    const { messages, hasMore } = body as ChatPage;
    read = read
      ? {
          ...read,
          messages: [...messages, ...read.messages],
          hasMore,
        }
      : conversationOf(body as ChatPage);
  } while (read.hasMore);
  return read;
}
