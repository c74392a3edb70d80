import type { ChatStreamEvent } from '#contract/chat-schemas';
import { isUsage, readEvent, readOpening, signInterval } from '../rules/stream-events.ts';
import { requestAs } from './api-client.ts';
import { connectionState, StreamReader, type StreamName } from './event-stream.ts';
import { fetchProfile, keepStreamProfile, refetchProfile } from './profile-query.ts';
import { session } from './session.ts';
import { signsOfLife } from './signs-of-life.ts';

/** A page of the conversation, whose stream carries the usage too. */
type Page = {
  token: string;
  revision: () => number;
  onEvent: (event: ChatStreamEvent, revision: number | null) => void;
  /** Reads the conversation by a call, because the stream brings nothing. */
  read: () => void;
};

/** The one stream of an approved user: of the usage, or of the conversation, whose page opens it after reading. */
class SessionStream {
  #open: { token: string; name: StreamName; reader: StreamReader } | null = null;
  #page: Page | null = null;
  /** Whether the page on screen is one of the conversation, which opens its own stream. */
  #expectsPage = () => false;

  start(expectsPage: () => boolean): void {
    this.#expectsPage = expectsPage;
    const retry = () => this.retry();
    session.subscribe(() => this.#follow());
    document.addEventListener('visibilitychange', () => isVisible() && retry());
    addEventListener('pageshow', retry);
    addEventListener('online', retry);
    signsOfLife.subscribe(() => this.#open?.reader.noteLife());
    this.#lookForLife();
    this.#follow();
  }

  /** Begins a new series of attempts at once, unless the stream is known to be alive. */
  retry(): void {
    this.#open?.reader.wake();
  }

  /** Makes the stream that of a conversation, until the returned function is called. */
  followConversation(page: Page): () => void {
    this.#page = page;
    this.#follow();
    return () => {
      if (this.#page === page) this.#page = null;
      this.#follow();
    };
  }

  /** While the stream of a visible page has ended, a call looks about once a minute whether the server responds again. */
  #lookForLife(): void {
    setTimeout(() => {
      if (isVisible() && connectionState.get().status === 'lost') void this.#askForLife();
      this.#lookForLife();
    }, signInterval(Math.random()));
  }

  /** Makes one call, without a second try. Its success begins a new series, unless another page has replaced the stream. */
  async #askForLife(): Promise<void> {
    if (!this.#open) return;
    const response = await requestAs(this.#open.token, 'getMe').catch(() => null);
    if (response && connectionState.get().status === 'lost') this.#readByCall();
  }

  /** Reads what the stream would have brought. */
  #readByCall(): void {
    if (this.#open?.name === 'chatStream') this.#page?.read();
    else if (this.#open) void fetchProfile({ inBackground: true });
  }

  #follow(): void {
    const { token, user } = session.get();
    const wanted = user !== null && user.status !== 'pending' ? token : null;
    const name = this.#page?.token === wanted ? 'chatStream' : 'usageStream';
    if (this.#open?.token === wanted && this.#open?.name === name) return;
    this.#open?.reader.close();
    this.#open = null;
    if (wanted && (name === 'chatStream' || !this.#expectsPage()))
      this.#open = { token: wanted, name, reader: this.#read(wanted, name) };
  }

  #read(token: string, name: StreamName): StreamReader {
    const isChat = name === 'chatStream';
    return new StreamReader({
      token,
      name,
      query: () => (isChat ? { after: String(this.#page?.revision() ?? 0) } : {}),
      onOpen(data) {
        const profile = readOpening(data);
        if (profile) keepStreamProfile(token, profile);
        else void refetchProfile();
      },
      onMessage: (data, id) => this.#take(data, id),
      onSilence: () => this.#readByCall(),
    });
  }

  #take(data: string, id: string): void {
    const event = readEvent(data);
    if (!event) return;
    if (!isUsage(event)) this.#page?.onEvent(event, /^\d+$/.test(id) ? Number(id) : null);
    else if (event.type === 'usageUpdate') setCount(event.count);
    else void refetchProfile();
  }
}

export const sessionStream = new SessionStream();

const isVisible = () => document.visibilityState === 'visible';

function setCount(count: number): void {
  session.setMessagesUsed(count);
  connectionState.addCount();
}
